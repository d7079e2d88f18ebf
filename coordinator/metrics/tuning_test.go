package metrics_test

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/coordinator/internal/keeper"
)

var docs = filepath.Join("..", "..", "docs")

func readGuide(t testing.TB) string { return readPage(t, "tuning.md") }

func readPage(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(docs, name))
	require.NoError(t, err)
	return string(text)
}

// fenced returns the blocks of a page in that language.
func fenced(page, language string) (blocks []string) {
	for _, part := range strings.Split(page, "\n```"+language+"\n")[1:] {
		block, _, _ := strings.Cut(part, "\n```")
		blocks = append(blocks, block)
	}
	return blocks
}

// guideQueries returns the queries of the guide, which stand apart by empty lines.
func guideQueries(t testing.TB) (queries []string) {
	t.Helper()
	for _, block := range fenced(readGuide(t), "promql") {
		queries = append(queries, strings.Split(block, "\n\n")...)
	}
	require.NotEmpty(t, queries)
	return queries
}

func TestTheGuideNamesWhatIsThere(t *testing.T) {
	c := catalogueOf(t)
	for _, query := range guideQueries(t) {
		require.Empty(t, c.problems(query), query)
	}
	// In the text, where the name of a histogram may stand for all of it.
	for name := range describedLabels(t) {
		if _, known := c[name]; !known {
			c[name] = c[name+"_sum"]
		}
	}
	for _, span := range regexp.MustCompile("`(palisade_[^`]*)`").FindAllStringSubmatch(readGuide(t), -1) {
		require.Empty(t, c.problems(span[1]), span[1])
	}
}

func TestTheGuideHasEveryAlert(t *testing.T) {
	var alerts, sections []string
	severities := map[string]string{}
	for _, r := range readAlerts(t) {
		alerts = append(alerts, r.Alert)
		severities[r.Alert] = r.Labels["severity"]
	}
	page := readGuide(t)
	for _, match := range regexp.MustCompile(`(?m)^#### (\w+)\n\n(\w+)\. `).FindAllStringSubmatch(page, -1) {
		sections = append(sections, match[1])
		require.Equal(t, severities[match[1]], strings.ToLower(match[2]), "%s: how urgent it is", match[1])
	}
	require.Equal(t, alerts, sections)
	for _, name := range regexp.MustCompile(`\bPalisade[A-Z]\w+`).FindAllString(page, -1) {
		require.Contains(t, severities, name)
	}
}

func TestTheGuideHasEveryReasonOfALoss(t *testing.T) {
	for reason := coordinator.LossUnknown; reason <= coordinator.LossClosed; reason++ {
		require.True(t, strings.Contains(readGuide(t), "`"+reason.String()+"`"), reason)
	}
}

// A line of a log that the guide quotes is one that is written.
func TestTheGuideQuotesTheLogs(t *testing.T) {
	source, err := os.ReadFile(filepath.Join("..", "logs", "logs.go"))
	require.NoError(t, err)
	prose := regexp.MustCompile("(?s)\n```.*?\n```|`[^`]*`").ReplaceAllString(readGuide(t), "")
	quotes := regexp.MustCompile(`"[^"]*"`).FindAllString(prose, -1)
	require.NotEmpty(t, quotes)
	for _, quote := range quotes {
		quote = strings.ReplaceAll(quote, "\n", " ")
		require.True(t, strings.Contains(string(source), quote), quote)
	}
}

// Links to headings, which the rule for links leaves alone.
func TestTheGuideLinksToHeadingsThatAreThere(t *testing.T) {
	links := regexp.MustCompile(`\]\(([\w./-]*)#([\w-]+)\)`).FindAllStringSubmatch(readGuide(t), -1)
	require.NotEmpty(t, links)
	for _, link := range links {
		page := link[1]
		if page == "" {
			page = "tuning.md"
		}
		require.Contains(t, anchors(readPage(t, page)), link[2], page)
	}
}

// anchors returns the names under which the headings of a page are linked to.
func anchors(page string) (names []string) {
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(page, -1) {
		name := regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(strings.ToLower(heading[1]), "")
		names = append(names, strings.ReplaceAll(name, " ", "-"))
	}
	return names
}

// arithmetic matches a line that works something out.
var arithmetic = regexp.MustCompile(`^.*?\S {2,}([\d(][\d.+\-*/() ]*?) += ([\d.]+)(?: s)?$`)

func TestTheGuidesArithmeticIsRight(t *testing.T) {
	lines := 0
	for _, part := range strings.Split(readGuide(t), "<!-- arithmetic, worked out by a test -->\n")[1:] {
		for _, line := range strings.Split(fenced(part, "text")[0], "\n") {
			match := arithmetic.FindStringSubmatch(line)
			require.NotNil(t, match, line)
			// Of whole numbers, Go's 1 / 2 is 0.
			value, err := types.Eval(token.NewFileSet(), nil, token.NoPos, regexp.MustCompile(`[\d.]+`).ReplaceAllString(match[1], "float64($0)"))
			require.NoError(t, err, line)
			got, _ := constant.Float64Val(constant.ToFloat(value.Value))
			_, decimals, _ := strings.Cut(match[2], ".")
			require.Equal(t, match[2], strconv.FormatFloat(got, 'f', len(decimals), 64), line)
			lines++
		}
	}
	require.Positive(t, lines)
}

// What the guide says is left for all that happens to a renewal is what the keeper
// leaves for it.
func TestTheGuidesShareIsTheKeepers(t *testing.T) {
	const ttl = 100 * time.Second
	k := keeper.New()
	k.Hold(1, ttl, 0, 0)
	k.Sent(0)
	k.Heard(0)
	renew, ok := k.RenewAt()
	require.True(t, ok)
	require.Equal(t, clock.Instant(ttl/4), renew)
	require.Equal(t, 90*time.Second, keeper.Window(ttl))
	require.True(t, strings.Contains(readGuide(t), "0.9×T − 0.25×T = 0.65×T"))
	require.Equal(t, 65*time.Second, keeper.Window(ttl)-time.Duration(renew))
}

func TestTheGuideHasTheNumbersOfTheLibrary(t *testing.T) {
	for _, text := range []string{
		fmt.Sprintf("T = %.0f s and E = %.0f s", coordinator.DefaultTTL.Seconds(), coordinator.DefaultElectionTimeout.Seconds()),
		"More than " + thousands(coordinator.ObserverBacklog) + " events",
		"The default, " + thousands(coordinator.DefaultLimitQueue) + ",",
		fmt.Sprintf("Less than %d MiB are free. Below %d MiB", coordinator.DiskSpaceAgain>>20, coordinator.DiskSpaceMin>>20),
	} {
		require.True(t, strings.Contains(readGuide(t), text), text)
	}
}

// thousands writes a number of up to six digits.
func thousands(n int) string {
	return strconv.Itoa(n/1000) + "," + strconv.Itoa(n%1000 + 1000)[1:]
}
