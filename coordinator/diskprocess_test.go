package coordinator_test

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/internal/inject"
	"github.com/palisade-go/palisade/coordinator/internal/raftnode/disktest"
)

// DiskStart is the disk that a node's process begins with.
type DiskStart struct {
	Room uint64       // what the node finds free, in bytes; 0: what the machine has
	End  disktest.End // when the process ends; zero: the disk is the machine's
}

// plenty is the room of a disk that is not short.
const plenty = 4 * coordinator.DiskSpaceAgain

func (p *nodeProcess) useDisk(s DiskStart, env *inject.Env) {
	if s.Room > 0 {
		p.room.Store(s.Room)
		env.Gauge = func(string) (uint64, error) { return p.room.Load(), nil }
	}
	if s.End.At > 0 {
		p.disk.EndAt(s.End)
		env.LogFS, env.StoreFS, env.EngineFS = p.disk.PebbleFS(), p.disk.PebbleFS(), p.disk.EngineFS()
	}
}

// SetRoom changes what the node finds free.
func (p *nodeProcess) SetRoom(bytes uint64, _ *Nothing) error {
	p.room.Store(bytes)
	return nil
}

// BreakDisk makes everything that changes the disk fail, until the process
// ends.
func (p *nodeProcess) BreakDisk(why syscall.Errno, _ *Nothing) error {
	return breakDisk(p.dir, why)
}

// ReleaseAll gives back what was taken by Acquire.
func (p *nodeProcess) ReleaseAll(Nothing, *Nothing) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for key, lease := range p.leases {
		if err := lease.Release(ctx); err != nil {
			return fmt.Errorf("release %q: %w", key, err)
		}
		delete(p.leases, key)
	}
	return nil
}

// HandTo asks for all that this node leads to be led by another one.
func (p *nodeProcess) HandTo(other coordinator.NodeID, _ *Nothing) error {
	for group := 1; group <= p.groups; group++ {
		if leader, _ := p.controls.Leader(group); leader == uint64(p.number) {
			// A wish; what came of it is seen from who leads.
			_ = p.controls.Lead(group, uint64(other))
		}
	}
	return nil
}

// Leads tells how many groups this node leads.
func (p *nodeProcess) Leads(_ Nothing, led *int) error {
	for group := 1; group <= p.groups; group++ {
		if leader, _ := p.controls.Leader(group); leader == uint64(p.number) {
			*led++
		}
	}
	return nil
}

// LeadsWanted is how many groups a node shall lead, within a time.
type LeadsWanted struct {
	Groups int
	Within time.Duration
}

// AwaitLeads waits until this node leads so many groups.
func (p *nodeProcess) AwaitLeads(want LeadsWanted, _ *Nothing) error {
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	enough := time.NewTimer(want.Within)
	defer enough.Stop()
	for {
		var led int
		if err := p.Leads(Nothing{}, &led); err != nil || led == want.Groups {
			return err
		}
		select {
		case <-again.C:
		case <-enough.C:
			return fmt.Errorf("node %d leads %d groups, not %d", p.number, led, want.Groups)
		}
	}
}

// allLedBy makes a node the leader of all groups.
func (f *fleet) allLedBy(number coordinator.NodeID) {
	f.t.Helper()
	ended := patient(f.t)
	for {
		for _, p := range f.running {
			if p.number != number {
				p.ask("HandTo", number, &Nothing{})
			}
		}
		err := f.running[number].try("AwaitLeads", LeadsWanted{fleetGroups, 2 * f.election}, &Nothing{})
		if err == nil {
			return
		}
		require.NoError(f.t, ended.Err(), "%v", err)
	}
}

// others returns the nodes that run, but for one.
func (f *fleet) others(number coordinator.NodeID) []*process {
	var all []*process
	for _, id := range f.members() {
		if p := f.running[id]; p != nil && id != number {
			all = append(all, p)
		}
	}
	return all
}

// ends waits until a node's process has ended by itself, and returns how, and
// what it said.
func (f *fleet) ends(number coordinator.NodeID) (*os.ProcessState, string) {
	f.t.Helper()
	p := f.running[number]
	done := make(chan error, 1)
	go func() { done <- p.cmd.Wait() }()
	select {
	case <-done:
	case <-patient(f.t).Done():
		p.kill()
		<-done
		require.FailNow(f.t, "a process goes on", "node %d said:\n%s", number, &p.stderr)
	}
	_ = p.orders.Close()
	delete(f.running, number)
	return p.cmd.ProcessState, p.stderr.String()
}

// wasKilled reports whether a process was ended by SIGKILL.
func wasKilled(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// work is what the nodes of these tests do meanwhile.
var work = Load{Workers: 4, Keys: []string{"stock", "invoices", "mail", "index"}}

// worked waits until each of some nodes has held something from now on.
func (f *fleet) worked(nodes ...*process) {
	f.t.Helper()
	from := f.register.size()
	for _, p := range nodes {
		f.register.await(f.t, fmt.Sprintf("node %d to hold something", p.number), from, func(e Entry) bool {
			return e.Node == p.number
		})
	}
}

// rest gives back what the nodes hold, ends the work of all, and checks that
// they agree, that nothing is left, and that the tokens only rose.
func (f *fleet) rest() {
	f.t.Helper()
	for _, p := range f.running {
		p.ask("ReleaseAll", Nothing{}, &Nothing{})
		p.ask("Rest", Nothing{}, &Nothing{})
	}
	for i, dump := range f.equalDumps() {
		require.Empty(f.t, requestsIn(dump), "group %d has something left:\n%s", i+1, dump)
	}
	f.register.check(f.t)
}
