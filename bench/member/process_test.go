package member_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/palisade-go/palisade/bench/crew"
	"github.com/palisade-go/palisade/bench/member"
	"github.com/palisade-go/palisade/bench/peer"
)

// patience bounds every wait for a process.
const patience = time.Minute

func TestMain(m *testing.M) {
	roles := map[string]func() member.Service{"scribe": func() member.Service { return newScribe() }}
	if status, isMember := member.Serve(roles); isMember {
		os.Exit(status)
	}
	goleak.VerifyTestMain(m)
}

// scribe is the service of a member that writes files.
type scribe struct {
	member.Crew
	closed string // to be made when the benchmark hangs up
}

func newScribe() *scribe {
	return &scribe{Crew: member.Crew{Workers: crew.NewSite(func(context.Context) (crew.Locker, error) { return nobody{}, nil })}}
}

// Write is so many writes of a megabyte, each followed by a sync.
type Write struct {
	File  string
	Times int
}

const megabyte = 1 << 20

// Write writes.
func (s *scribe) Write(w Write, _ *member.Nothing) error {
	f, err := os.Create(w.File)
	if err != nil {
		return err
	}
	defer f.Close()
	for range w.Times {
		if _, err := f.Write(make([]byte, megabyte)); err != nil {
			return err
		}
		if err := f.Sync(); err != nil {
			return err
		}
	}
	return nil
}

// Pid answers the process id.
func (s *scribe) Pid(_ member.Nothing, pid *int) error {
	*pid = os.Getpid()
	fmt.Println("my pid was asked for")
	return nil
}

// WhenClosed names a file to make at the end.
func (s *scribe) WhenClosed(file string, _ *member.Nothing) error {
	s.closed = file
	return nil
}

// Hang never answers.
func (s *scribe) Hang(member.Nothing, *member.Nothing) error { select {} }

func (s *scribe) Close() error {
	if s.closed == "" {
		return nil
	}
	return os.WriteFile(s.closed, nil, 0o644)
}

// nobody is a locker without locks.
type nobody struct{}

func (nobody) Acquire(context.Context, []string) error { return nil }
func (nobody) Release(context.Context) error           { return nil }
func (nobody) Close() error                            { return nil }

func start(t *testing.T) *member.Process {
	t.Helper()
	p, err := member.StartRole(t.TempDir(), "scribe", "scribe")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Kill()) })
	return p
}

func patient(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

func TestAMemberAnswersInItsOwnProcess(t *testing.T) {
	p := start(t)
	var pid int
	require.NoError(t, p.Call(patient(t), "Pid", member.Nothing{}, &pid))
	require.Equal(t, p.Pid(), pid)
	require.NotEqual(t, os.Getpid(), pid)
	said, err := os.ReadFile(p.Log())
	require.NoError(t, err)
	require.Contains(t, string(said), "my pid was asked for")
	require.ErrorContains(t, p.LastWords(), "my pid was asked for")
	require.Error(t, p.Call(patient(t), "Nonsense", member.Nothing{}, &pid))
}

func TestAMembersSiteCarriesOutPlans(t *testing.T) {
	site := start(t).Site()
	require.NoError(t, site.Ready(patient(t), 2))
	tally, err := site.Run(patient(t), crew.Plan{Workers: 2, Prefix: "k", For: time.Hour, Turns: 10, Stamps: true})
	require.NoError(t, err)
	require.Equal(t, uint64(20), tally.Pairs)
	require.Len(t, tally.Grants, 20)
	require.Equal(t, uint64(20), tally.Acquire.Count())
}

func TestStopHangsUpAndWaits(t *testing.T) {
	p := start(t)
	file := filepath.Join(t.TempDir(), "closed")
	require.NoError(t, p.Call(patient(t), "WhenClosed", file, &member.Nothing{}))
	require.NoError(t, p.Stop(syscall.SIGTERM))
	require.FileExists(t, file, "the service was closed")
	<-p.Ended()
}

func TestAKilledMemberAnswersNothing(t *testing.T) {
	p := start(t)
	file := filepath.Join(t.TempDir(), "closed")
	require.NoError(t, p.Call(patient(t), "WhenClosed", file, &member.Nothing{}))
	require.NoError(t, p.Kill())
	<-p.Ended()
	require.NoFileExists(t, file, "nothing was closed")
	require.Error(t, p.Call(patient(t), "Pid", member.Nothing{}, new(int)))
	require.NoError(t, p.Kill(), "again")
}

func TestACallEndsWithItsContext(t *testing.T) {
	p := start(t)
	ctx, cancel := context.WithCancelCause(context.Background())
	enough := errors.New("enough")
	cancel(enough)
	require.ErrorIs(t, p.Call(ctx, "Hang", member.Nothing{}, &member.Nothing{}), enough)
}

func TestAnUnknownRoleEndsAtOnce(t *testing.T) {
	p, err := member.StartRole(t.TempDir(), "nobody", "nobody")
	require.NoError(t, err)
	<-p.Ended()
	require.ErrorContains(t, p.LastWords(), `there is no role "nobody"`)
	require.NoError(t, p.Stop(syscall.SIGTERM))
}

func TestAnotherProgramIsStoppedByItsSignal(t *testing.T) {
	p, err := member.Start(t.TempDir(), "cat", exec.Command("sleep", "3600"))
	require.NoError(t, err)
	require.NoError(t, p.Stop(syscall.SIGTERM))
	<-p.Ended()
	require.ErrorContains(t, p.LastWords(), "it said nothing")
	_, err = member.Start(t.TempDir(), "none", exec.Command("no-such-program"))
	require.Error(t, err)
}

// The member's own processes are found, and those that they start.
func TestUsageHasWhatAMemberWrote(t *testing.T) {
	dir := t.TempDir()
	if err := peer.CheckDisk(dir); err != nil {
		t.Skipf("what is written there never goes to a disk: %v", err)
	}
	p := start(t)
	write := func() {
		require.NoError(t, p.Call(patient(t), "Write", Write{filepath.Join(dir, "file"), 3}, &member.Nothing{}))
	}
	for name, pids := range map[string][]int{"ByItsID": {p.Pid()}, "AsADescendant": {os.Getpid()}} {
		t.Run(name, func(t *testing.T) {
			before, err := member.UsageOf(pids)
			require.NoError(t, err)
			write()
			after, err := member.UsageOf(pids)
			require.NoError(t, err)
			used := after.Sub(before)
			require.GreaterOrEqual(t, used.Written, uint64(3*megabyte))
			require.GreaterOrEqual(t, used.CPU, time.Duration(0))
		})
	}
	_, err := member.UsageOf([]int{1 << 30})
	require.Error(t, err, "there is no such process")
}

func TestSyncsAreCountedOnce(t *testing.T) {
	if why := member.SyncsMissing(); why != "" {
		t.Skip(why)
	}
	p := start(t)
	syncs, err := member.CountSyncs([]int{p.Pid()})
	require.NoError(t, err)
	err = p.Call(patient(t), "Write", Write{filepath.Join(t.TempDir(), "file"), 7}, &member.Nothing{})
	counted, stopped := syncs.Stop()
	require.NoError(t, err)
	require.NoError(t, stopped)
	require.Equal(t, uint64(7), counted)
	var pid int
	require.NoError(t, p.Call(patient(t), "Pid", member.Nothing{}, &pid), "it lives on")
}

func TestSyncsOfAProcessThatIsGoneAreAFailure(t *testing.T) {
	if why := member.SyncsMissing(); why != "" {
		t.Skip(why)
	}
	const gone = 1 << 30
	p := start(t)
	for _, pids := range [][]int{{gone}, {p.Pid(), gone}, {gone, p.Pid()}} {
		_, err := member.CountSyncs(pids)
		require.ErrorContains(t, err, "No such process")
	}
	var pid int
	require.NoError(t, p.Call(patient(t), "Pid", member.Nothing{}, &pid), "it lives on")
}

func TestPortsAreInARowAndNobodysUntilTheMembersListen(t *testing.T) {
	a, err := member.TakePorts(3)
	require.NoError(t, err)
	t.Cleanup(a.Free)
	b, err := member.TakePorts(3)
	require.NoError(t, err)
	t.Cleanup(b.Free)
	seen := map[int]bool{}
	for i := range 3 {
		require.Equal(t, a.Port(0)+i, a.Port(i))
		require.Equal(t, fmt.Sprintf("127.0.0.1:%d", a.Port(i)), a.Address(i))
		seen[a.Port(i)], seen[b.Port(i)] = true, true
	}
	require.Len(t, seen, 6)
}
