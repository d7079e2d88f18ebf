// Package locktest runs whole clusters inside a test: real engines and real
// files, with a network in memory whose links can be cut, and clocks that can
// be moved.
//
//	func TestTheJobStopsWhenItsLockIsLost(t *testing.T) {
//		cluster := locktest.New(t, 3)
//		job := Start(cluster.Node(1).Coordinator())
//		cluster.Isolate(1)
//		<-job.Stopped()
//	}
//
// # What there is
//
//   - A Cluster has nodes 1 to n. New returns when all of them are ready.
//   - A Node runs, or is stopped: by Close, which is orderly, or by Kill, which
//     is what the death of its process would be. Restart opens it again, on the
//     same directory, as its next incarnation.
//   - Each node has a Clock, which all windows and deadlines of that node are
//     counted with. The engine's elections follow the machine's own time.
//   - Faults of the network are set by node number and direction, and stay
//     until Heal.
//
// # One node, and a holder that is paused
//
// There is no fake of a Coordinator: a cluster of one node is meant for unit
// tests.
//
// A process that stands still while somebody else gets its lock is a frozen
// clock, a cut, and the acquire of another node:
//
//	lease, err := cluster.Node(1).Coordinator().Acquire(ctx, "export")
//	cluster.Node(1).Clock().Freeze() // it believes that no time passes
//	cluster.Isolate(1)
//	next, err := cluster.Node(2).Coordinator().Acquire(ctx, "export")
//	// lease.Held() is still true, and only a guard can refuse its token:
//	// next.Token() is greater.
//
// The example of Clock.Freeze is the whole of it.
//
// # How to write a test that does not flicker
//
// Wait for what happens, not for time to pass: on a lease's Done, on a call
// that returns, or with Await. Let a fault prove that it happened: Faults and
// Traffic count. A cluster shares the machine with whatever else runs on it,
// so a wait should be bounded far above what it needs.
//
// A lease is lost, and a place in line, when its group does not answer for
// most of its TTL. A machine that stands still for some seconds can bring that
// about. What has to last gets a TTL of an hour, by WithTTL or by Config.TTL,
// and is ended by a Clock: to move those of the others by twice the TTL takes
// no time. TryAcquire, Inspect and Resolve give up after three election
// timeouts: a test asks again when it gets ErrUnavailable.
//
// When a test fails, the kit logs the seed of the network's chances and what
// the nodes had to say.
//
// Functions that fail the test at once have to be called from the test's own
// goroutine, as testing.TB demands; all others may be called from any.
package locktest
