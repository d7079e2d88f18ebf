package coordinator

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
)

func TestPeersFromStatefulSet(t *testing.T) {
	for _, c := range []struct {
		hostname string
		service  HeadlessService
		replicas int
		port     uint16
		id       NodeID
		peers    map[NodeID]string
	}{
		{"app-0", "app", 1, 7400, 1, map[NodeID]string{1: "app-0.app:7400"}},
		{"app-2", "app", 3, 7400, 3, map[NodeID]string{1: "app-0.app:7400", 2: "app-1.app:7400", 3: "app-2.app:7400"}},
		{"lock-2b-1", "locks.prod.svc.cluster.local", 3, 1, 2, map[NodeID]string{
			1: "lock-2b-0.locks.prod.svc.cluster.local:1",
			2: "lock-2b-1.locks.prod.svc.cluster.local:1",
			3: "lock-2b-2.locks.prod.svc.cluster.local:1",
		}},
		{"0-4", "7", 5, 65535, 5, map[NodeID]string{
			1: "0-0.7:65535", 2: "0-1.7:65535", 3: "0-2.7:65535", 4: "0-3.7:65535", 5: "0-4.7:65535",
		}},
	} {
		id, peers, err := PeersFromStatefulSet(c.hostname, c.service, c.replicas, c.port)
		require.NoError(t, err, c.hostname)
		require.Equal(t, c.id, id)
		require.Equal(t, c.peers, peers)
		require.NoError(t, Config{Dir: "d", Cluster: "c", NodeID: id, Peers: peers, TLS: transport.Insecure}.withDefaults().validate())
	}
	id, peers, err := PeersFromStatefulSet("app-6", "app", 7, 7400)
	require.NoError(t, err)
	require.Equal(t, NodeID(7), id)
	require.Len(t, peers, 7)
}

func TestPeersFromStatefulSetNamesWhatIsWrong(t *testing.T) {
	long := strings.Repeat("x", 64)
	for _, c := range []struct {
		name     string
		hostname string
		service  HeadlessService
		replicas int
		port     uint16
		want     []string
	}{
		{"NoHostname", "", "app", 3, 7400, []string{`hostname "": has an empty label`}},
		{"NoOrdinal", "app", "app", 3, 7400, []string{`hostname "app": must end in a hyphen and the ordinal of the pod`}},
		{"OrdinalAlone", "0", "app", 3, 7400, []string{`hostname "0": must end in a hyphen and the ordinal`}},
		{"NoSet", "-0", "app", 3, 7400, []string{`hostname "-0": the label "-0" must not begin or end with a hyphen`}},
		{"EmptyOrdinal", "app-", "app", 3, 7400, []string{`the label "app-" must not begin or end with a hyphen`}},
		{"NegativeOrdinal", "app--1", "app", 3, 7400, []string{`hostname "app--1": the label "app-" must not`}},
		{"PodOfADeployment", "app-5d9c7b-x2x4z", "app", 3, 7400, []string{`"x2x4z" is not the ordinal of a pod`}},
		{"LeadingZero", "app-01", "app", 3, 7400, []string{`"01" is not the ordinal of a pod`}},
		{"HugeOrdinal", "app-99999999999999999999", "app", 3, 7400, []string{`"99999999999999999999" is not the ordinal`}},
		{"OrdinalOfNoReplica", "app-3", "app", 3, 7400, []string{`hostname "app-3": its ordinal is 3, but of 3 replicas the last has 2`}},
		{"UpperCase", "App-0", "app", 3, 7400, []string{`hostname "App-0": the label "App-0" must have lower-case letters`}},
		{"OtherLetters", "äpp-0", "app", 3, 7400, []string{`must have lower-case letters, digits and hyphens only`}},
		{"FullName", "app-0.app.prod", "app", 3, 7400, []string{`hostname "app-0.app.prod": must be the name of the pod alone, up to the first dot`}},
		{"LongHostname", long + "-0", "app", 3, 7400, []string{"has 66 bytes: at most 63"}},
		{"NoService", "app-0", "", 3, 7400, []string{`service "": must not be empty`}},
		{"ServiceWithAPort", "app-0", "app:7400", 3, 7400, []string{`service "app:7400": the label "app:7400" must have`}},
		{"ServiceInUpperCase", "app-0", "App", 3, 7400, []string{`service "App": the label "App" must have lower-case`}},
		{"ServiceEndsInADot", "app-0", "app.", 3, 7400, []string{`service "app.": has an empty label`}},
		{"LongLabel", "app-0", HeadlessService("app." + long), 3, 7400, []string{"has 64 bytes: at most 63"}},
		{"LongService", "app-0", HeadlessService(strings.Repeat("a.", 94) + "ab"), 3, 7400, []string{"has 190 bytes: at most 189"}},
		{"NoReplicas", "app-0", "app", 0, 7400, []string{"replicas is 0: must be 1, 3, 5 or 7"}},
		{"NegativeReplicas", "app-0", "app", -3, 7400, []string{"replicas is -3"}},
		{"EvenReplicas", "app-0", "app", 4, 7400, []string{"replicas is 4: must be 1, 3, 5 or 7"}},
		{"TooManyReplicas", "app-0", "app", 9, 7400, []string{"replicas is 9"}},
		{"NoPort", "app-0", "app", 3, 0, []string{"port is 0: must be 1 to 65535"}},
		{"EverythingAtOnce", "app", "", 2, 0, []string{"hostname", "service", "replicas", "port"}},
	} {
		t.Run(c.name+"IsRefused", func(t *testing.T) {
			id, peers, err := PeersFromStatefulSet(c.hostname, c.service, c.replicas, c.port)
			require.ErrorIs(t, err, ErrInvalid)
			for _, want := range c.want {
				require.ErrorContains(t, err, want)
			}
			require.Len(t, strings.Split(err.Error(), "\n"), len(c.want), "%v", err)
			require.Zero(t, id)
			require.Nil(t, peers)
		})
	}
	_, _, err := PeersFromStatefulSet("app-0", HeadlessService(strings.Repeat("a.", 94)+"a"), 3, 7400)
	require.NoError(t, err, "189 bytes")
	_, _, err = PeersFromStatefulSet(strings.Repeat("x", 61)+"-0", "app", 3, 7400)
	require.NoError(t, err, "63 bytes")
}

// The forms, said a second time.
var (
	labelForm = `[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?`
	podForm   = regexp.MustCompile(`^` + labelForm + `-(0|[1-9][0-9]*)$`)
	nameForm  = regexp.MustCompile(`^` + labelForm + `(\.` + labelForm + `)*$`)
)

// Strings put together from what such names are made of, and from what they
// must not have, are taken or refused as a second reading of the rules says.
// It is no Fuzz function: those of this package would build the engine anew.
func TestPeersFromStatefulSetOfRandomNames(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	text := func() string {
		parts := []string{"app", "a-b", "-", ".", "0", "1", "2", "07", "-0", "-1", "-3", "svc", ".prod", "A", "\n", "é", ""}
		var b strings.Builder
		for range random.IntN(4) {
			b.WriteString(parts[random.IntN(len(parts))])
		}
		return b.String()
	}
	taken := 0
	for range 100_000 {
		hostname, service, replicas, port := text(), text(), random.IntN(10)-1, uint16(random.IntN(3)*3700)
		id, peers, err := PeersFromStatefulSet(hostname, HeadlessService(service), replicas, port)
		ordinal := -1
		if podForm.MatchString(hostname) {
			if _, err := fmt.Sscanf(hostname[strings.LastIndex(hostname, "-")+1:], "%d", &ordinal); err != nil {
				ordinal = -1
			}
		}
		good := ordinal >= 0 && ordinal < replicas && replicas%2 == 1 && replicas <= 7 && port > 0 && nameForm.MatchString(service)
		if !good {
			require.ErrorIs(t, err, ErrInvalid, "%q, %q, %d, %d", hostname, service, replicas, port)
			require.Zero(t, id)
			require.Nil(t, peers)
			continue
		}
		taken++
		require.NoError(t, err, "%q, %q, %d, %d", hostname, service, replicas, port)
		require.Len(t, peers, replicas)
		require.Equal(t, fmt.Sprintf("%s.%s:%d", hostname, service, port), peers[id])
		require.NoError(t, Config{Dir: "d", Cluster: "c", NodeID: id, Peers: peers, TLS: transport.Insecure}.withDefaults().validate())
	}
	require.Positive(t, taken)
}
