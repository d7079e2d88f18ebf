package token_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

func TestWriteCheck(t *testing.T) {
	good := token.Write{Resource: "invoices", Token: 5, Operation: "invoices of 2026-11"}
	require.NoError(t, good.Check())
	for name, change := range map[string]func(*token.Write){
		"no operation":        func(w *token.Write) { w.Operation = "" },
		"longest resource":    func(w *token.Write) { w.Resource = strings.Repeat("r", 512) },
		"longest operation":   func(w *token.Write) { w.Operation = token.Operation(strings.Repeat("o", 255)) },
		"every other control": func(w *token.Write) { w.Resource, w.Operation = "\x01\n\x7f", "\t" },
		"more than ASCII":     func(w *token.Write) { w.Resource = "Rechnungen für März" },
	} {
		w := good
		change(&w)
		require.NoError(t, w.Check(), name)
	}
	for name, row := range map[string]struct {
		change func(*token.Write)
		says   string
	}{
		"no resource":       {func(w *token.Write) { w.Resource = "" }, "the resource has no name"},
		"long resource":     {func(w *token.Write) { w.Resource = strings.Repeat("r", 513) }, "(513 bytes) is longer than 512 bytes"},
		"resource no UTF-8": {func(w *token.Write) { w.Resource = "a\xff" }, `name of the resource "a\xff" is not UTF-8`},
		"resource with 0":   {func(w *token.Write) { w.Resource = "a\x00b" }, `name of the resource "a\x00b" has a zero byte`},
		"zero token":        {func(w *token.Write) { w.Token = 0 }, `0 means none (for resource "invoices")`},
		"64 bits":           {func(w *token.Write) { w.Token = 1<<63 | 5 }, "needs more than 63 bits"},
		"counter 0":         {func(w *token.Write) { w.Token = 1 << 53 }, "has counter 0"},
		"long operation": {
			func(w *token.Write) { w.Operation = token.Operation(strings.Repeat("o", 256)) },
			"(256 bytes) is longer than 255 bytes",
		},
		"operation no UTF-8": {func(w *token.Write) { w.Operation = "\xc3" }, `operation id "\xc3" is not UTF-8`},
		"operation with 0":   {func(w *token.Write) { w.Operation = "\x00" }, "has a zero byte"},
	} {
		w := good
		row.change(&w)
		err := w.Check()
		require.ErrorIs(t, err, token.ErrInvalid, name)
		require.ErrorContains(t, err, row.says, name)
	}
}

func TestWriteJudge(t *testing.T) {
	w := token.Write{Resource: "invoices", Token: 5}
	for _, highest := range []token.Token{0, 1, 4} {
		require.NoError(t, w.Judge(highest))
		require.NoError(t, w.JudgeOnce(highest))
	}
	require.NoError(t, w.Judge(5), "the same lease may write again")
	require.Equal(t, &token.StaleError{Resource: "invoices", Given: 5, Highest: 5}, w.JudgeOnce(5))
	require.Equal(t, &token.StaleError{Resource: "invoices", Given: 5, Highest: 6}, w.Judge(6))
	require.Equal(t, &token.StaleError{Resource: "invoices", Given: 5, Highest: 6}, w.JudgeOnce(6))
}
