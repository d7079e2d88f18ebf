package coordinator_test

import (
	"io"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/token"
)

// diskScene is a cluster of processes at work. Node 1 leads all groups, and is
// the one whose disk gets into trouble. Every node holds a key besides.
type diskScene struct {
	*fleet
	troubled *process
	tokens   map[coordinator.NodeID]token.Token
}

// own is the key that a node holds besides its work.
var own = map[coordinator.NodeID]string{1: "own of 1", 2: "own of 2", 3: "own of 3"}

func newDiskScene(t *testing.T) *diskScene {
	s := &diskScene{fleet: newFleet(t, 3, 400*time.Millisecond, 4*time.Second), tokens: make(map[coordinator.NodeID]token.Token)}
	s.change = func(n *NodeStart) { n.Disk = &DiskStart{Room: plenty} }
	for _, number := range s.members() {
		s.start(number)
	}
	s.ready()
	s.allLedBy(1)
	s.troubled = s.running[1]
	for _, number := range s.members() {
		p := s.running[number]
		var got token.Token
		p.ask("Acquire", own[number], &got)
		s.tokens[number] = got
		p.ask("StartLoad", work, &Nothing{})
	}
	s.worked(s.running[1], s.running[2], s.running[3])
	return s
}

// gone waits until the process with the trouble has ended, and checks that it
// said why, and that the others have lost nothing and go on.
func (s *diskScene) gone(why string) {
	s.t.Helper()
	state, said := s.ends(1)
	require.False(s.t, state.Success())
	require.False(s.t, wasKilled(state), "it ended by itself")
	require.Contains(s.t, said, why)
	s.ready(2, 3)
	s.keptByOthers()
	s.worked(s.others(1)...)
	led := 0
	for _, p := range s.others(1) {
		var n int
		p.ask("Leads", Nothing{}, &n)
		led += n
	}
	require.Equal(s.t, fleetGroups, led, "groups that have another leader")
}

// keptByOthers checks that the nodes without trouble still hold their keys, in
// their own eyes and in those of the groups.
func (s *diskScene) keptByOthers() {
	s.t.Helper()
	for _, p := range s.others(1) {
		var held, holder token.Token
		p.ask("Renew", own[p.number], &Nothing{})
		p.ask("Held", own[p.number], &held)
		p.ask("Holder", own[p.number], &holder)
		require.Equal(s.t, s.tokens[p.number], held)
		require.Equal(s.t, held, holder)
	}
}

// breaks makes the troubled node's disk answer with an error from now on. Its
// process may end before it can say that it was told.
func (s *diskScene) breaks(with syscall.Errno) {
	s.t.Helper()
	if err := s.troubled.try("BreakDisk", with, &Nothing{}); err != nil {
		require.ErrorIs(s.t, err, io.ErrUnexpectedEOF)
	}
}

// comesBack starts the troubled node on a disk that is well again, and checks
// that all works as if nothing had been.
func (s *diskScene) comesBack() {
	s.t.Helper()
	p := s.start(1)
	s.ready()
	s.keptByOthers()
	var got token.Token
	p.ask("Acquire", own[1], &got)
	require.Greater(s.t, got, s.tokens[1])
	p.ask("StartLoad", work, &Nothing{})
	s.worked(p)
	s.rest()
	for _, number := range s.members() {
		s.close(number)
	}
}

// S138: the leader's disk fills up, while clients acquire and renew.
func TestS138DiskFullAndThenNot(t *testing.T) {
	t.Parallel()
	t.Run("ANodeThatSeesItComingHandsOverAndRecoversByItself", func(t *testing.T) {
		s := newDiskScene(t)
		s.troubled.ask("SetRoom", uint64(coordinator.DiskSpaceMin-1), &Nothing{})
		s.troubled.ask("AwaitLeads", LeadsWanted{0, patience}, &Nothing{})
		err := s.troubled.try("Acquire", "new", new(token.Token))
		require.ErrorContains(t, err, "(not applied)")
		require.ErrorContains(t, err, coordinator.ErrDiskSpace.Error())
		s.troubled.ask("Renew", own[1], &Nothing{})
		s.keptByOthers()
		s.worked(s.others(1)...)

		s.troubled.ask("SetRoom", uint64(plenty), &Nothing{})
		s.worked(s.troubled)
		var held token.Token
		s.troubled.ask("Held", own[1], &held)
		require.Equal(t, s.tokens[1], held)
		s.rest()
		for _, number := range s.members() {
			s.close(number)
		}
	})

	t.Run("AFollowerThatGetsFullEndsLoudlyAndReturnsWhenThereIsSpace", func(t *testing.T) {
		s := newDiskScene(t)
		s.troubled.ask("SetRoom", uint64(coordinator.DiskSpaceMin-1), &Nothing{})
		s.troubled.ask("AwaitLeads", LeadsWanted{0, patience}, &Nothing{})
		s.breaks(syscall.ENOSPC)
		s.gone("no space left on device")

		s.change = func(n *NodeStart) { n.Disk = &DiskStart{Room: 1} }
		refused, err := s.tryStart(1)
		require.ErrorContains(t, err, coordinator.ErrDiskSpace.Error())
		refused.kill()
		s.change = func(n *NodeStart) { n.Disk = &DiskStart{Room: plenty} }
		s.comesBack()
	})

	t.Run("ALeaderThatGetsFullAtOnceEndsLoudlyAndAnotherOneLeads", func(t *testing.T) {
		s := newDiskScene(t)
		s.breaks(syscall.ENOSPC)
		s.gone("no space left on device")
		s.comesBack()
	})
}

// S140: the leader's disk turns read-only. It must not stay leader as a zombie.
func TestS140DiskTurnsReadOnlyUnderTheLeader(t *testing.T) {
	t.Parallel()
	s := newDiskScene(t)
	s.breaks(syscall.EROFS)
	s.gone("read-only file system")
	s.comesBack()
}

// A disk that answers nothing but errors, as a broken one does.
func TestS140ADiskThatBreaksUnderTheLeader(t *testing.T) {
	t.Parallel()
	s := newDiskScene(t)
	s.breaks(syscall.EIO)
	s.gone("input/output error")
	s.comesBack()
}
