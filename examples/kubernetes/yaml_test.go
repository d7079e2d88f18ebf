package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// parseYAML reads the part of YAML that the manifests keep to, and refuses all
// else: mappings and sequences in block form, two spaces a level, plain scalars
// of one line, and comments on lines of their own. It returns maps, slices and
// strings.
func parseYAML(text string) (any, error) {
	p := &yamlLines{}
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		body := strings.TrimLeft(line, " ")
		switch {
		case body == "", strings.HasPrefix(body, "#"):
			continue
		case strings.ContainsAny(line, "\t\"'{}[]&*!|>%@`"), strings.Contains(line, " #"), strings.HasSuffix(line, " "), body == "---":
			return nil, fmt.Errorf("line %d: %q is more than this reads", i+1, line)
		case (len(line)-len(body))%2 != 0:
			return nil, fmt.Errorf("line %d: its indent is odd", i+1)
		}
		p.lines = append(p.lines, yamlLine{i + 1, len(line) - len(body), body})
	}
	value, err := p.value(0)
	if err == nil && len(p.lines) > 0 {
		err = p.wrong("its indent fits nothing")
	}
	return value, err
}

type yamlLine struct {
	number, indent int
	body           string
}

// yamlLines are those that are not read yet.
type yamlLines struct{ lines []yamlLine }

func (p *yamlLines) at(indent int) bool { return len(p.lines) > 0 && p.lines[0].indent == indent }

func (p *yamlLines) isItem() bool { return strings.HasPrefix(p.lines[0].body, "- ") }

func (p *yamlLines) wrong(what string) error {
	return fmt.Errorf("line %d: %s", p.lines[0].number, what)
}

// value reads the mapping or sequence that begins here.
func (p *yamlLines) value(indent int) (any, error) {
	if !p.at(indent) {
		return nil, fmt.Errorf("a value with %d spaces before it is missing", indent)
	}
	if !p.isItem() {
		return p.mapping(indent)
	}
	var items []any
	for p.at(indent) && p.isItem() {
		item, err := p.item(indent)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}

// item reads one item of a sequence: a mapping, whose first key follows the
// hyphen, or a scalar.
func (p *yamlLines) item(indent int) (any, error) {
	body := strings.TrimPrefix(p.lines[0].body, "- ")
	if _, _, isMapping := cutKey(body); isMapping {
		p.lines[0].indent, p.lines[0].body = indent+2, body
		return p.mapping(indent + 2)
	}
	p.lines = p.lines[1:]
	return body, nil
}

func (p *yamlLines) mapping(indent int) (any, error) {
	m := map[string]any{}
	for p.at(indent) && !p.isItem() {
		key, scalar, ok := cutKey(p.lines[0].body)
		if _, twice := m[key]; !ok || twice {
			return nil, p.wrong("not a new key with a value")
		}
		p.lines = p.lines[1:]
		if m[key] = scalar; scalar != "" {
			continue
		}
		value, err := p.value(indent + 2)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		m[key] = value
	}
	return m, nil
}

// cutKey splits "key: value" and "key:".
func cutKey(body string) (key, scalar string, ok bool) {
	if key, ok = strings.CutSuffix(body, ":"); ok && !strings.Contains(key, ": ") {
		return key, "", key != ""
	}
	key, scalar, ok = strings.Cut(body, ": ")
	return key, scalar, ok && key != "" && scalar != ""
}

func TestParseYAML(t *testing.T) {
	value, err := parseYAML("# comment\na: 1\nb:\n  - x\n  - k: v\n    l:\n      m: -hold=2s\n  - k: w\n\nc:\n  d: a:b\n")
	require.NoError(t, err)
	require.Equal(t, map[string]any{
		"a": "1",
		"b": []any{"x", map[string]any{"k": "v", "l": map[string]any{"m": "-hold=2s"}}, map[string]any{"k": "w"}},
		"c": map[string]any{"d": "a:b"},
	}, value)
}

func TestParseYAMLRefusesWhatItDoesNotRead(t *testing.T) {
	for _, text := range []string{
		"", "a: 1\na: 2\n", "a:\n", "a:\nb: 1\n", "a: 1\n  b: 2\n", "a: 1\n- b\n", "a:\n   - b\n", "a:\n    b: 1\n", "a:\n- b\n",
		"a: {b: 1}\n", "a: [b]\n", "a: \"b\"\n", "a: 'b'\n", "a: |\n  b\n", "a: >\n  b\n", "a: &b 1\n", "a: 1 # b\n", "a: 1 \n",
		"a: 1\n---\nb: 2\n", "\ta: 1\n", "a\n", "a: 1\nb\n", "%YAML 1.2\n", "a:1\n", ": 1\n", "a: 1\n    b: 2\n",
	} {
		_, err := parseYAML(text)
		require.Error(t, err, "%q", text)
	}
}
