package raftnode

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/palisade-go/palisade/statemachine"
)

func TestClose(t *testing.T) {
	t.Run("RacesWithEveryCall", func(t *testing.T) {
		for range 5 {
			c := start(t, 1, withGroups(2))
			p := c.peers[1]
			p.send(1)
			data := p.encode(1)
			var asked, answered atomic.Int64
			var callers sync.WaitGroup
			stop := make(chan struct{})
			began := make(chan struct{}, 16)
			call := func(one func()) {
				callers.Add(1)
				go func() {
					defer callers.Done()
					began <- struct{}{}
					for {
						select {
						case <-stop:
							return
						default:
							one()
						}
					}
				}()
			}
			for range 4 {
				call(func() {
					asked.Add(1)
					p.node.Propose(1, data, election, func(error) { answered.Add(1) })
				})
			}
			ctx, cancel := context.WithCancel(context.Background())
			call(func() { _ = p.node.Read(ctx, 1, func(*statemachine.Machine) {}) })
			call(func() { _ = p.node.View(2, func(*statemachine.Machine) {}) })
			call(func() { _ = p.node.Transfer(1, 1) })
			call(func() { _ = p.node.Leader(1); _ = p.node.Stats(2) })
			for range 8 {
				<-began
			}
			require.NoError(t, p.node.Close())
			close(stop)
			cancel()
			callers.Wait()
			require.Equal(t, asked.Load(), answered.Load(), "done is called exactly once")
		}
	})

	t.Run("IsIdempotentAndWaitsForTheFirst", func(t *testing.T) {
		p := start(t, 1).peers[1]
		p.send(1)
		var closers sync.WaitGroup
		for range 4 {
			closers.Add(1)
			go func() {
				defer closers.Done()
				require.NoError(t, p.node.Close())
				select {
				case <-p.node.stopped:
				default:
					require.Fail(t, "Close returned before the engine had stopped")
				}
			}()
		}
		closers.Wait()
		require.NoError(t, p.node.Close())
	})

	t.Run("WhileALaggingNodeIsInstallingLeavesItWhole", func(t *testing.T) {
		c := start(t, 3, withConfig(small))
		lagging := c.other(c.leader(1))
		lagging.stop()
		leader := c.leaderWithout(lagging)
		leader.outrun(1, 200)
		for range 8 {
			require.NoError(t, lagging.start())
			lagging.pause(1) // somewhere in the install
			lagging.stop()
		}
		require.NoError(t, lagging.start())
		lagging.send(1)
		require.Equal(t, leader.read(1), lagging.read(1))
		require.NoError(t, lagging.node.View(1, func(m *statemachine.Machine) { require.NoError(t, m.Check()) }))
	})

	t.Run("OfASinkThatHangsGivesUpAndSaysSo", func(t *testing.T) {
		hang := make(chan struct{})
		entered := make(chan struct{})
		sink := &hangingSink{recorder: newRecorder(), entered: entered, hang: hang}
		var before goleak.Option
		c := newCluster(t, 1, withConfig(func(cfg *Config) {
			before = goleak.IgnoreCurrent() // the store is open, the node is not
			cfg.Sink = func(statemachine.GroupID) Sink { return sink }
		}))
		p := c.peers[1]
		require.NoError(t, p.start())
		node := p.node
		p.node = nil // it is not stopped like the others
		for deadline := time.Now().Add(patience); ; {
			node.Propose(1, p.encode(1), election, func(error) {})
			select {
			case <-entered:
			case <-time.After(election / 5):
				require.Less(t, time.Now(), deadline)
				continue
			}
			break
		}
		node.closeMax = election
		err := node.Close()
		require.ErrorIs(t, err, ErrStillRunning)
		require.Equal(t, err, node.Close())
		close(hang)
		// Only here can the end be waited for: the engine stops once the Sink
		// has returned, and no further call of it follows.
		require.Eventually(t, func() bool { return goleak.Find(before) == nil }, patience, election)
		sink.mu.Lock()
		require.Empty(t, sink.entries)
		sink.mu.Unlock()
		require.NoError(t, p.store.Close())
	})
}

// hangingSink hangs in the first call of Applied.
type hangingSink struct {
	*recorder
	once    sync.Once
	entered chan struct{}
	hang    chan struct{}
}

func (s *hangingSink) Applied(index statemachine.Index, events []statemachine.Event) {
	hung := false
	s.once.Do(func() {
		hung = true
		close(s.entered)
		<-s.hang
	})
	if !hung {
		s.recorder.Applied(index, events)
	}
}

// TestFiftyStartsLeaveNothingBehind opens and closes the same directory and
// looks for goroutines after each round.
func TestFiftyStartsLeaveNothingBehind(t *testing.T) {
	c := start(t, 1, withGroups(2))
	p := c.peers[1]
	p.send(1)
	p.stop()
	ignore := goleak.IgnoreCurrent()
	for range 50 {
		require.NoError(t, p.start())
		p.stop()
		require.NoError(t, goleak.Find(ignore))
	}
}
