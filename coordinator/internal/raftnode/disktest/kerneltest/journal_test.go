package kerneltest

import (
	"bytes"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vmihailenco/msgpack/v5"
)

// A process that ends while it writes leaves a journal of all before.
func TestAJournalIsReadUpToWhereItWasCut(t *testing.T) {
	want := []Operation{
		{Kind: Open, Path: "a/b", File: 1001, Flags: syscall.O_CREAT | syscall.O_RDWR},
		{Kind: Write, Path: "a/b", File: 1001, Offset: 1 << 40, Data: []byte("data"), Failed: syscall.EIO},
		{Kind: Rename, Path: "a", To: "b"},
		{Kind: Truncate, Path: "a/b", File: 1001, Size: 7},
	}
	var whole bytes.Buffer
	var ends []int
	for _, o := range want {
		require.NoError(t, o.encode(msgpack.NewEncoder(&whole)))
		ends = append(ends, whole.Len())
	}
	n := 0
	for cut := range whole.Len() + 1 {
		if n < len(ends) && cut == ends[n] {
			n++
		}
		got, err := ReadJournal(bytes.NewReader(whole.Bytes()[:cut]))
		require.NoError(t, err, "cut at %d", cut)
		require.Equal(t, want[:n], append([]Operation{}, got...), "cut at %d", cut)
	}
	_, err := ReadJournal(bytes.NewReader([]byte{0xc1}))
	require.Error(t, err, "that is no journal")
}
