package scenariotest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func read(t *testing.T, line string) Command {
	t.Helper()
	c, err := parse(line)
	require.NoError(t, err)
	return c
}

func TestCommandHasAVerbWordsAndOptions(t *testing.T) {
	c := read(t, "acquire a 7 ttl=4s queue=2")
	require.Equal(t, "acquire", c.Verb)
	require.Equal(t, "a", c.Word(0))
	require.EqualValues(t, 7, c.Number(1))
	require.Equal(t, []string{"a", "7"}, c.Words())
	require.Empty(t, c.Word(2))
	require.Equal(t, 4*time.Second, c.Duration("ttl", time.Second))
	require.Equal(t, time.Second, c.Duration("limit", time.Second))
	require.EqualValues(t, 2, c.Uint("queue", 9))
	require.EqualValues(t, 9, c.Uint("last", 9))
	require.NoError(t, c.unread())
}

func TestWhatIsNotReadIsAnError(t *testing.T) {
	require.ErrorContains(t, read(t, "state now").unread(), `the word "now"`)
	require.ErrorContains(t, read(t, "state tll=4s").unread(), "the option tll")
	_, err := parse("acquire ttl=4s ttl=5s")
	require.ErrorContains(t, err, "ttl is there twice")
}

func TestWhatIsMalformedIsAnError(t *testing.T) {
	c := read(t, "deliver two ttl=4 queue=many")
	c.Number(0)
	c.Duration("ttl", 0)
	c.Uint("queue", 0)
	err := c.unread()
	require.ErrorContains(t, err, "word 1")
	require.ErrorContains(t, err, "option ttl")
	require.ErrorContains(t, err, "option queue")
}

func TestScenarioIsWrittenAnewFromWhatHappens(t *testing.T) {
	const text = "# Purpose.\n\nsay a\nsay b\n----\nold\n\n# A remark.\nsay\n----\n"
	got := run(t, "file", text, func(c Command) (string, error) {
		if c.Word(0) == "" {
			return "", nil
		}
		return c.Word(0) + "\n", nil
	})
	require.Equal(t, "# Purpose.\n\nsay a\nsay b\n----\na\nb\n\n# A remark.\nsay\n----\n(nothing)\n", got)
}
