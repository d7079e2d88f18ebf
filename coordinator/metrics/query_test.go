package metrics_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// query is what an expression of PromQL names. Whether the expression is one at
// all is promtool's to say.
type query struct {
	series []selector
	labels []string // by which it groups or matches
}

// selector is a series, and what is wanted of its labels.
type selector struct {
	name     string
	matchers []matcher
}

type matcher struct{ label, op, value string }

var queryToken = regexp.MustCompile(`^(?:(\s+|#.*)|("(?:[^"\\]|\\.)*")|([a-zA-Z_:][\w:]*)|(\[[^\]]*\]|[\d.]+[a-z]*|[-+*/%^<>=!~]+|[(){},]))`)

// Words that stand between series, and those that labels follow.
var (
	queryWords    = []string{"and", "or", "unless", "bool", "offset"}
	groupingWords = []string{"by", "without", "on", "ignoring", "group_left", "group_right"}
)

// readQuery reads an expression.
func readQuery(text string) (query, error) {
	var q query
	tokens, err := tokensOf(text)
	if err != nil {
		return q, err
	}
	at := func(i int) string {
		if i < len(tokens) {
			return tokens[i]
		}
		return ""
	}
	for i := 0; i < len(tokens); i++ {
		word := tokens[i]
		switch {
		case !isWord(word) || slices.Contains(queryWords, word):
		case slices.Contains(groupingWords, word):
			if at(i+1) != "(" {
				return q, fmt.Errorf("no labels after %s", word)
			}
			for i += 2; at(i) != ")"; i++ {
				if at(i) == "" {
					return q, fmt.Errorf("the labels after %s do not end", word)
				}
				if isWord(at(i)) {
					q.labels = append(q.labels, at(i))
				}
			}
		case at(i+1) == "(" || slices.Contains(groupingWords, at(i+1)): // a function
		default:
			s := selector{name: word}
			if at(i+1) == "{" {
				for i += 2; at(i) != "}"; i++ {
					if at(i) == "," {
						continue
					}
					if !isWord(at(i)) || !strings.HasPrefix(at(i+2), `"`) {
						return q, fmt.Errorf("%s has something else than label=\"value\"", word)
					}
					s.matchers = append(s.matchers, matcher{at(i), at(i + 1), strings.Trim(at(i+2), `"`)})
					i += 2
				}
			}
			q.series = append(q.series, s)
		}
	}
	return q, nil
}

func isWord(token string) bool { return regexp.MustCompile(`^[a-zA-Z_:]`).MatchString(token) }

// tokensOf leaves out spaces and comments.
func tokensOf(text string) (tokens []string, err error) {
	for text != "" {
		match := queryToken.FindStringSubmatch(text)
		if match == nil {
			return nil, fmt.Errorf("what is %.20q?", text)
		}
		if match[1] == "" {
			tokens = append(tokens, match[0])
		}
		text = text[len(match[0]):]
	}
	return tokens, nil
}

// problems returns what an expression names that is not there.
func (c catalogue) problems(text string) (found []string) {
	q, err := readQuery(text)
	if err != nil {
		return []string{err.Error()}
	}
	if len(q.series) == 0 && !strings.HasPrefix(text, "vector(") {
		return []string{"it names no series"}
	}
	known := map[string]bool{}
	for _, s := range q.series {
		labels, ok := c[s.name]
		if !ok {
			found = append(found, "there is no series "+s.name)
			continue
		}
		for label := range labels {
			known[label] = true
		}
		for _, m := range s.matchers {
			found = append(found, m.problems(s.name, labels)...)
		}
	}
	for _, label := range q.labels {
		if !known[label] {
			found = append(found, "no series in it has the label "+label)
		}
	}
	return found
}

func (m matcher) problems(series string, labels labelValues) (found []string) {
	values, ok := labels[m.label]
	if !ok {
		return []string{series + " has no label " + m.label}
	}
	wanted := []string{m.value}
	if strings.HasSuffix(m.op, "~") {
		wanted = strings.Split(m.value, "|")
	}
	for _, value := range wanted {
		if values != nil && !slices.Contains(values, value) {
			found = append(found, fmt.Sprintf("%s of %s is never %q", m.label, series, value))
		}
	}
	return found
}

func TestProblemsOfAQuery(t *testing.T) {
	c := catalogueOf(t)
	c.record("job_group:waits:max")
	for text, want := range map[string][]string{
		`palisade_up`:     nil,
		`vector(15)`:      nil,
		`palisade_up == `: nil, // for promtool
		`sum by (job) (rate(palisade_wait_seconds_count{end=~"timeout|queue full", job="$job"}[$__rate_interval])) > 0.1`: nil,
		`histogram_quantile(1, sum(rate(palisade_wait_seconds_bucket[1h])) by (le))`:                                      nil,
		`job_group:waits:max{group="1"} offset 20m > 10 # or more`:                                                        nil,
		`palisade_peer_reached == 0 and on (job, peer) palisade_peer_reached{peer="2"}`:                                   nil,
		`palisade_down`:                                {"there is no series palisade_down"},
		`palisade_wait_seconds > up`:                   {"there is no series palisade_wait_seconds", "there is no series up"},
		`instance:waits:max`:                           {"there is no series instance:waits:max"},
		`job_group:waits:max{instance="a"}`:            {"job_group:waits:max has no label instance"},
		`palisade_up{group="1"}`:                       {"palisade_up has no label group"},
		`palisade_wait_seconds_count{le="1"}`:          {"palisade_wait_seconds_count has no label le"},
		`palisade_wait_seconds_bucket{le="1.1"}`:       {`le of palisade_wait_seconds_bucket is never "1.1"`},
		`palisade_losses_total{reason=~"window|gone"}`: {`reason of palisade_losses_total is never "gone"`},
		`sum by (reason) (palisade_up)`:                {"no series in it has the label reason"},
		`max without (key) (palisade_up)`:              {"no series in it has the label key"},
		`palisade_up{job}`:                             {`palisade_up has something else than label="value"`},
		`palisade_up @ 5`:                              {`what is "@ 5"?`},
		`sum by palisade_up`:                           {"no labels after by"},
		`sum by (job`:                                  {"the labels after by do not end"},
		`1 + 1`:                                        {"it names no series"},
	} {
		require.Equal(t, want, c.problems(text), text)
	}
}
