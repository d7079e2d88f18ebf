// Package sim runs whole clusters in one goroutine, in a time of its own,
// under faults that a seed draws.
//
// What decides is the production code: the lock machine, the hub with its
// keeper and batcher, and the expiry proposer. This package has what is around
// them, and no rule of its own (a test reads its source for that):
//
//	world     true time, and the agenda of all that is going to happen in it
//	setting   how large a world is
//	plan      the clients and the strikes of one seed, each with a number
//	stream    the random source of one actor
//	group     one log: what Raft would have agreed on; who leads
//	node      one process: its watch, its life and death
//	replica   a node's copy of a group's machine, and its disk
//	office    what a replica does while it leads
//	shell     what stands around a node's hub of a group
//	call      one request to one hub, as its caller sees it
//	client    a goroutine of the program: it asks for keys, of one group or
//	          of several in rising order, holds them and gives them back
//	fault     one thing that goes wrong; a strike is one time that it does
//	ills      the strikes of a node that go on over many messages
//	oracle    what must hold of a group's log and of its replicas
//	owners    what must hold of those who believe to own a key
//	flights   what must hold of the numbers that a hub uses
//	peace     what must come true once nothing goes wrong any longer
//	shrink    the least part of a plan that still fails
//
// Every actor draws from a stream of its own, named by the seed and by what it
// is. So a plan of which parts are left out does the same in the parts that
// are left, as far as these don't touch.
//
// Raft itself is not here. A group's log is one list; a proposal comes to it,
// or not, once or twice, and when it likes. A barrier is passed where the node
// that asks for one leads at that moment. Two more things are in package
// coordinator and not here: Held, of which call.trusts is the likeness, and
// the order in which an acquire asks the groups, of which client is a user.
//
// Nor is there a clock that stands still while a machine is suspended: no
// holder can notice, and only a guard at the resource helps (docs/time.md).
//
// One goroutine at a time may use a world.
package sim
