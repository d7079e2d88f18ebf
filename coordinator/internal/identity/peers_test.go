package identity

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/statemachine"
)

// anyone is a judge that lets everybody follow.
func anyone(Acquaintance, bool) error { return nil }

func acquaintance(n byte) Acquaintance {
	return Acquaintance{Directory: statemachine.DirectoryID{n}, Incarnation: statemachine.Incarnation(n), Start: StartID{n, n}}
}

func TestPeersAreRememberedThroughRestarts(t *testing.T) {
	dir := t.TempDir()
	id := mustOpen(t, dir)
	require.False(t, id.Peers.Admitted())
	_, known := id.Peers.Met(2)
	require.False(t, known)

	require.NoError(t, id.Peers.Meet(2, acquaintance(7), func(before Acquaintance, known bool) error {
		require.False(t, known)
		require.Zero(t, before)
		return nil
	}))
	require.NoError(t, id.Peers.Meet(3, acquaintance(8), anyone))
	require.NoError(t, id.Peers.Admit())
	require.NoError(t, id.Close())

	id = mustOpen(t, dir)
	require.True(t, id.Peers.Admitted())
	met, known := id.Peers.Met(2)
	require.True(t, known)
	require.Equal(t, acquaintance(7), met)
	require.NoError(t, id.Peers.Meet(2, acquaintance(9), func(before Acquaintance, known bool) error {
		require.True(t, known)
		require.Equal(t, acquaintance(7), before)
		return nil
	}))
	require.NoError(t, id.Close())
	id = mustOpen(t, dir)
	met, _ = id.Peers.Met(2)
	require.Equal(t, acquaintance(9), met)
	met, _ = id.Peers.Met(3)
	require.Equal(t, acquaintance(8), met)
	require.True(t, id.Peers.Admitted())
	require.NoError(t, id.Close())
}

func TestARefusedOrUnwrittenMeetingChangesNothing(t *testing.T) {
	dir := t.TempDir()
	id := mustOpen(t, dir)
	require.NoError(t, id.Peers.Meet(2, acquaintance(1), anyone))
	before := list(t, dir)
	no := errors.New("no")
	require.ErrorIs(t, id.Peers.Meet(2, acquaintance(2), func(Acquaintance, bool) error { return no }), no)
	require.Equal(t, before, list(t, dir))

	// A directory in the place of the draft makes every write fail.
	require.NoError(t, os.Mkdir(filepath.Join(dir, peersFile+".new"), 0o700))
	require.ErrorContains(t, id.Peers.Meet(2, acquaintance(2), anyone), peersFile)
	require.ErrorContains(t, id.Peers.Admit(), peersFile)
	met, _ := id.Peers.Met(2)
	require.Equal(t, acquaintance(1), met)
	require.False(t, id.Peers.Admitted())
	require.NoError(t, id.Peers.Meet(2, acquaintance(1), anyone), "what is known need not be written")
	require.NoError(t, id.Close())
}

// After Close the directory may be that of the node's next start.
func TestNothingIsWrittenAfterClose(t *testing.T) {
	dir := t.TempDir()
	id := mustOpen(t, dir)
	require.NoError(t, id.Peers.Meet(2, acquaintance(1), anyone))
	require.NoError(t, id.Close())
	before := list(t, dir)
	require.ErrorIs(t, id.Peers.Meet(2, acquaintance(2), anyone), ErrClosed)
	require.ErrorIs(t, id.Peers.Meet(3, acquaintance(2), anyone), ErrClosed)
	require.ErrorIs(t, id.Peers.Admit(), ErrClosed)
	require.Equal(t, before, list(t, dir))
	require.NoError(t, id.Peers.Meet(2, acquaintance(1), anyone), "what is known need not be written")
}

func TestEachStartHasItsOwnID(t *testing.T) {
	dir := t.TempDir()
	seen := map[StartID]bool{{}: true}
	for range 3 {
		id := mustOpen(t, dir)
		require.False(t, seen[id.Start])
		seen[id.Start] = true
		require.NoError(t, id.Close())
	}
}

// A directory that forgot whom it met could let a member start over unseen.
func TestDamagedPeersAreNamed(t *testing.T) {
	met := func(body string) string { return `{"admitted":true,"met":{` + body + `}}` }
	for name, damage := range map[string]func(*testing.T, string){
		"gone":          remove(peersFile),
		"empty":         write(peersFile, ""),
		"not JSON":      write(peersFile, "["),
		"without a met": write(peersFile, `{"admitted":true}`),
		"of nobody":     write(peersFile, met(`"x":{}`)),
		"short id": write(peersFile,
			met(`"2":{"directory":"00","incarnation":1,"start":"00000000000000000000000000000001"}`)),
		"start that is not hexadecimal": write(peersFile,
			met(`"2":{"directory":"00000000000000000000000000000001","incarnation":1,"start":"zz"}`)),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, mustOpen(t, dir).Close())
			require.NoError(t, os.Mkdir(filepath.Join(dir, RaftDir), 0o700))
			damage(t, dir)
			before := list(t, dir)
			_, err := Open(dir, 1, certificate())
			require.ErrorIs(t, err, ErrDamaged)
			require.ErrorContains(t, err, peersFile)
			require.Equal(t, before, list(t, dir))
		})
	}
}

// Without the stores a directory has lost what made it the one that was met.
func TestPeersAreMissedAlsoWhenTheStoresAreGone(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, mustOpen(t, dir).Close())
	remove(peersFile)(t, dir)
	_, err := Open(dir, 1, certificate())
	require.ErrorIs(t, err, ErrDamaged)
	require.ErrorContains(t, err, peersFile)
}
