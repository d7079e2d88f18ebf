package raftlog

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// killChildEnv makes the test binary a child of TestAKilledNodeKeepsWhatItSaid. Its
// value is "first directory address".
const killChildEnv = "RAFTLOG_TEST_KILL"

// TestAKilledNodeKeepsWhatItSaid kills the process of a node while it proposes,
// some times over one directory. Every proposal that it has said was applied is
// there afterwards.
func TestAKilledNodeKeepsWhatItSaid(t *testing.T) {
	if child := os.Getenv(killChildEnv); child != "" {
		killChild(t, child)
		return
	}
	rng := newRand(t)
	h := newHosts(t, 1, 1, ours)[0]
	said := uint64(0)
	for range 4 {
		child := exec.Command(os.Args[0], "-test.run=^TestAKilledNodeKeepsWhatItSaid$", "-test.timeout=3m")
		child.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s %s", killChildEnv, said+1, h.dir, h.members[1]))
		out, err := child.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, child.Start())
		left := 20 + rng.IntN(60)
		var text strings.Builder
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var n uint64
			if _, err := fmt.Sscanf(lines.Text(), "applied %d", &n); err != nil {
				fmt.Fprintln(&text, lines.Text())
				continue
			}
			said = n
			if left--; left == 0 {
				require.NoError(t, child.Process.Kill())
			}
		}
		require.Error(t, child.Wait())
		require.LessOrEqual(t, left, 0, "the child ended before it was killed:\n%s", text.String())
	}
	h.start()
	got := h.tally(1)
	require.GreaterOrEqual(t, got.last, said)
	require.GreaterOrEqual(t, got.count, said)
	require.LessOrEqual(t, got.last, said+1)
}

// killChild runs the node and says what was applied, until it is killed.
func killChild(t *testing.T, args string) {
	var number uint64
	h := &host{t: t, id: 1, members: map[uint64]string{}, groups: 1, factory: ours(), snapshots: 40}
	var address string
	_, err := fmt.Sscan(args, &number, &h.dir, &address)
	require.NoError(t, err)
	h.members[1] = address
	h.start()
	last := h.tally(1).last
	require.GreaterOrEqual(t, last, number-1, "what the killed node had said is not there")
	require.LessOrEqual(t, last, number, "it had proposed only one more")
	for ; ; number++ {
		h.propose(1, number)
		fmt.Printf("applied %d\n", number)
	}
}
