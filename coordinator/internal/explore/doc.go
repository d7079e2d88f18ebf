// Package explore searches a small world of the protocol whole: two nodes, two
// keys, and every order of what may happen to them. In each state that can be
// reached it asks whether the guarantees hold.
//
// A simulator draws schedules and so meets what is likely. This package takes
// all of them, in worlds small enough for that; see Worlds.
//
// # What is real
//
// The lock machine, the hub with its batcher and keeper, and the expiry
// proposer are those of production, and nothing of them is told again here.
// What is left to a model is what lies between them: the network, the log as
// a list of entries, who leads, the replicas' lag, the clocks and the callers.
//
// # What may happen
//
//   - A caller asks, withdraws, releases, or finds its window over.
//   - The log gets a message. The network never loses one and keeps it after
//     it was delivered, so every order, delay and repetition is among the
//     paths; and so is every loss, because nothing has to be delivered. A
//     retry is the same bytes and adds no message.
//   - A replica applies the next entry. Its hub and its proposer hear of it.
//   - A leader proposes what is due. It names what its own replica knows.
//   - Another leader is elected; each node hears of it at its own time, the old
//     one goes on until then, the new one takes office after its barrier.
//   - A replica takes over the state of the other one, by a snapshot.
//   - A node restarts as the next incarnation. What its earlier start sent is
//     still in the network.
//   - Time passes, up to the next instant that matters. The hubs look at their
//     clocks then; but one may rest, and look later.
//   - A node that has used its share of batches falls silent for good.
//
// # What is checked
//
//   - G1, G3: whoever takes itself for an owner, by its own clock, is the owner
//     at the end of the log. A key has one owner there, so no two believe it.
//   - G2: a token is greater than every one before for any of its keys.
//   - G4: an expiry ends nothing of a node of which the log has a newer batch.
//   - G6: the dead are let go within 2T.
//   - G7: nobody is granted a key before one who came first; a try never waits.
//   - G8: a lease has all the keys that were asked for.
//   - G9: a batch applies once, and none after a later one of its node.
//   - G10: of a call that ended with nothing, or is over, the log has nothing,
//     in that state and in every later one.
//   - The invariants of statemachine.Machine.Check, after every entry.
//   - What the hub says fits what the caller knows, and is not too late.
//   - Liveness: from the states that Config.HealEvery names, when nothing goes
//     wrong any longer, everything comes to rest; see healer.
//
// G5 (a gap without a leader) and G11 (bounds) are not looked at: here the log
// is never without a leader, and every world is within all bounds.
//
// # Why instants that are skipped hide nothing
//
// Nothing acts because of time but by comparing its clock with an instant that
// it keeps: the end of a window or limit, a renewal or a retry that is due, the
// moment from which a hub holds back new numbers, the deadlines of a proposer.
// Between two such instants all comparisons come out alike, so whatever may
// happen there may happen at the first of them, with the same result but for
// what is counted from it. What is counted from it is a first send or an
// application of an entry. Moving one to an earlier instant that is in the
// same relation to all the others is moving it within a gap in which nobody
// could tell. That is an argument and no proof: new instants that are counted
// from the middle of a gap could come to lie in an order that those counted
// from its ends do not have. Worlds with a finer T (eighths, margin, slow,
// fast) have more gaps, and find no more; and the simulator has true time.
//
// At equal instants every order is a path of its own, except that the hubs look
// at their clocks first. Every input of a hub begins and ends with that same
// look, so it makes no difference.
//
// In slow and fast the clocks are 5 % off in opposite directions. An instant is
// then reached up to 21 units late, a quarter of a percent of T; the safe
// window ends half a percent of T before the first deadline.
//
// # When two states are one
//
// A state is the machine at the end of the log, the entries that a replica
// lacks, the messages, and for each node its process and its proposer. All
// times are ages, and ages above T (2T for proposers that may lead later) are
// alike. What can't matter any longer is left out; the fields are named where
// that is done, each with its reason, and TestOneStandsForAll walks at random
// with and without it. Indexes are left out: an entry without any effect is
// no entry. States are told apart by 128 bits of hash.
//
// Processes, proposers and machine states are kept once each and numbered, and
// what an input makes of one is computed once, by the production code, on a
// copy. There are some thousand of them for a million states.
//
// # What is left out
//
// A hub that lags behind its own replica: hub and proposer of a node meet only
// through the log, so it is the same as a replica that lags on a node that does
// not lead. A restart from an older image: it is the same as a replica that
// had not applied those entries before the restart, because the next process
// ignores what is told of the last one. An office that stalls: it is taken
// anew, as after an election. Leave, request ids that are joined, hints that
// an attempt failed (they make a retry earlier), and queue bounds.
//
// # A path
//
// A search goes breadth first, so the path to a fault is a shortest one. It is
// printed as a story and as numbers: `-world key -path 1.0.3` tells it again.
package explore
