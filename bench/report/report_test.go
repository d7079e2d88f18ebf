package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/bench/measure"
	"github.com/palisade-go/palisade/bench/workload"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares a text with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "see go test -update")
}

// madeUp are results with round numbers: etcd is twice as slow, but in round 2,
// in which all are slow.
func madeUp() *Results {
	r := &Results{
		Command: "go run . -rounds 3", Began: time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC), Took: "12m3s",
		Machine: Machine{
			Processor: "A Processor", Cores: 2, MemoryBytes: 24 << 30, Kernel: "6.1.0", Go: "go1.26.1",
			FileSystem: "ext4", LoadBefore: 0.25,
		},
		Revision: "0123456789ab", Settings: map[string]string{"rounds": "3", "for": "3s"},
		Peers: map[string]string{"palisade": "this checkout", "etcd": "3.6.16"},
	}
	add := func(name, peer string, round int, values map[string]float64) {
		r.Samples = append(r.Samples, Sample{Workload: name, Peer: peer, Round: round, Values: values})
	}
	for round := 1; round <= 3; round++ {
		slow := []float64{1, 10, 1.25}[round-1]
		add("floor", "machine", round, map[string]float64{"fdatasync p50": 0.25 * slow, "round trip p50": 0.02})
		add("own-1", "engine", round, map[string]float64{"proposals/s": 1000 / slow, "acquire p50": slow})
		add("own-1", "palisade", round, map[string]float64{"pairs/s": 800 / slow, "acquire p50": 1.25 * slow})
		add("one-16", "palisade", round, map[string]float64{"pairs/s": 900 / slow, "most turns": 300, "fewest turns": 290})
		add("own-1", "etcd", round, map[string]float64{"pairs/s": 400 / slow, "acquire p50": 2.5 * slow})
		add("one-16", "etcd", round, map[string]float64{"pairs/s": []float64{100, 30, 80}[round-1]})
	}
	add("leases", "palisade", 1, map[string]float64{"start-up": 12_345.6, "heap/lease and replica": 512, "log entries/s at rest": 6})
	add("renewing", "palisade", 1, map[string]float64{"log entries/s at rest": 6})
	r.Gaps = []Gap{
		{Peer: "zookeeper", Why: "not installed (apt-get install zookeeper)"},
		{Peer: "etcd", Workload: "groups-1", Why: "it has no groups"},
		{Peer: "etcd", Workload: "idle-64", Why: "it has no groups"},
		{Peer: "palisade", Workload: "own-1024", Why: "open: no port", Failed: true},
	}
	r.Judge(1_000_000)
	return r
}

func TestGoldenJSON(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, madeUp().WriteJSON(&b))
	golden(t, "results.json", b.String())
}

func TestGoldenTables(t *testing.T) {
	var b bytes.Buffer
	madeUp().WriteTables(&b)
	golden(t, "tables.md", b.String())
}

func TestGoldenChart(t *testing.T) {
	for _, c := range []Chart{Charts[0], Charts[2]} {
		var b bytes.Buffer
		some, err := madeUp().WriteChart(&b, c)
		require.NoError(t, err)
		require.True(t, some)
		golden(t, c.File, b.String())
	}
	var b bytes.Buffer
	some, err := madeUp().WriteChart(&b, Charts[4])
	require.NoError(t, err)
	require.False(t, some, "there are no numbers for it")
	require.Zero(t, b.Len())
}

func TestGoldenPage(t *testing.T) {
	page := "# Title\n\n" + PageBegin + "\nold\n" + PageEnd + "\n\nThe end.\n"
	got, err := madeUp().WritePage(page, "benchmarks", Charts[:1])
	require.NoError(t, err)
	golden(t, "page.txt", got)
	again, err := madeUp().WritePage(got, "benchmarks", Charts[:1])
	require.NoError(t, err)
	require.Equal(t, got, again, "written twice it is the same")
	for _, page := range []string{"", PageBegin + "\n", PageEnd + "\n" + PageBegin + "\n"} {
		_, err := madeUp().WritePage(page, "benchmarks", nil)
		require.ErrorIs(t, err, errMarkers)
	}
}

// Every chart names workloads and metrics that there are.
func TestChartsAndTargetsNameWhatThereIs(t *testing.T) {
	for _, c := range Charts {
		require.True(t, strings.HasSuffix(c.File, ".svg"))
		for _, p := range c.panels {
			checkPlace(t, p.workload, p.metric)
		}
	}
	for _, target := range targets {
		checkPlace(t, target.value.workload, target.value.metric)
		if target.by != (place{}) {
			checkPlace(t, target.by.workload, target.by.metric)
		}
	}
}

func checkPlace(t *testing.T, name string, m workload.Metric) {
	t.Helper()
	chosen, err := workload.Select(name)
	require.NoError(t, err)
	require.NotEmpty(t, chosen)
	require.Contains(t, workload.Metrics, m)
}

func TestAVerdictNeedsAllRounds(t *testing.T) {
	spread := func(values ...float64) measure.Spread { return measure.SpreadOf(values) }
	atMost, atLeast := target{limit: 2}, target{limit: 2, atLeast: true}
	for _, c := range []struct {
		name   string
		target target
		got    measure.Spread
		want   string
	}{
		{"NoRound", atMost, spread(), Unknown},
		{"AllBelowAnUpperLimit", atMost, spread(1, 1.5, 2), Met},
		{"AllAboveAnUpperLimit", atMost, spread(2.1, 3), Missed},
		{"AcrossAnUpperLimit", atMost, spread(1, 1, 2.1), Undecided},
		{"AllAboveALowerLimit", atLeast, spread(2, 3), Met},
		{"AllBelowALowerLimit", atLeast, spread(1, 1.9), Missed},
		{"AcrossALowerLimit", atLeast, spread(1.9, 3, 3), Undecided},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, outcome(c.target, c.got)) })
	}
}

func TestTargetsOfSizeNeedTheSize(t *testing.T) {
	r := madeUp()
	verdict := func(text string) string {
		for _, v := range r.Verdicts {
			if strings.Contains(v.Target, text) {
				return v.Outcome
			}
		}
		t.Fatalf("no target %q", text)
		return ""
	}
	require.Equal(t, Met, verdict("bytes of heap"))
	require.Equal(t, Missed, verdict("start with"))
	require.Equal(t, Met, verdict("p50 / a bare proposal"), "round by round it is 1.25")
	r.Judge(999_999)
	require.Equal(t, Unknown, verdict("bytes of heap"))
	require.Equal(t, Unknown, verdict("start with"))
	require.Equal(t, Met, verdict("p50 / a bare proposal"))
}

func TestNumbersHaveThreeDigitsThatCount(t *testing.T) {
	for value, want := range map[float64]string{
		0: "0", 3: "3", 10: "10", 0.0123: "0.012", 0.5: "0.500", 1.234: "1.23", 12.34: "12.3", 123.4: "123",
		1234: "1,234", 1234567.8: "1,234,568", -1234: "-1,234", 999: "999",
	} {
		require.Equal(t, want, number(value))
	}
}

func TestFailedTellsFailuresFromWhatIsMissing(t *testing.T) {
	r := madeUp()
	require.True(t, r.Failed())
	r.Gaps = r.Gaps[:3]
	require.False(t, r.Failed())
}

func TestLineIsInTheOrderOfATable(t *testing.T) {
	require.Equal(t, "pairs/s 1,200, acquire p50 0.500", Line(map[string]float64{"acquire p50": 0.5, "pairs/s": 1200}))
}
