// Package torture runs a cluster as operating-system processes over TCP with
// TLS, breaks what can be broken from outside, and checks what the clients saw.
// It is all test; this file is its explanation.
//
//	nemesis      draws faults, begins them, heals them, waits for progress
//	fleet        the processes of the nodes: this test binary, started again
//	link         a TCP proxy for each node's way to each other: cut, stalled,
//	             swallowed, reset, slow
//	crew         the workers of a node, and what their parent tells them
//	worker       a client inside a node's process: acquires, writes, lingers,
//	             releases, and writes after a pause without asking its lease
//	register     what the locks protect, in the parent, which nothing kills:
//	             it refuses stale tokens and logs each write
//	generation   some keys, used by all workers for one series of faults; its
//	             history is checked while the next one runs
//
// # What is checked
//
//   - The history of each generation keeps the contract (package history): one
//     owner, tokens rise, sets are owned together, a busy try had a reason, the
//     register is one. Undecided is failed.
//   - The register's log: tokens rise from write to write that was accepted; it
//     is what the journals of the writers say; the last accepted is what is read.
//   - No worker is told that it still owns a key when the register knows of a
//     greater token.
//   - After each series of faults every worker owns a key of every group again,
//     within a generous limit.
//   - An error says what happened: nothing but what the method names.
//   - A process ends when it is told or killed, and not otherwise. At the end
//     all nodes have the same state and nobody has anything left.
//   - Each kind of fault had its effect: bytes were held back, a process stood
//     still, a refusal came with its reason.
//
// # What it can't do
//
// Clocks can't be moved from outside a process; internal/sim and the keeper's
// scenarios do that. Power loss is not a SIGKILL, after which the system still
// has what was written; see raftnode/disktest. The full disk needs the right to
// mount a file system; without it that fault is named as not run.
//
// # Running it
//
//	go test ./coordinator/internal/torture                 each fault once, in any order
//	go test ./coordinator/internal/torture -v -run TestTorture -time 2h -timeout 0
//
// The second draws faults, which overlap, until the time is up. After each ten
// minutes it goes on for ten without those that restart a node, so that it can
// be seen whether a node grows. Every five minutes it says how it stands. SIGINT
// ends it in good order, with its report.
//
// -seed draws the same plan again; how the system schedules the processes is
// not fixed by it. -ttl changes T; the election timeout is a quarter of it.
// After a failure the logs of the nodes with their states and goroutines, the
// journals, the register's log and the events are kept, and their place is said.
package torture
