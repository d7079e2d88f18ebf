// Package diskspace says whether a node has enough free disk space to go on.
//
// The Raft engine ends the process on the first write that fails, so a disk
// that fills up has to be noticed before it is full.
//
//	enough --below Needed--> short --Enough or more--> enough
//
// A Gauge reads how much is free. Check is for a node that is about to open.
// Level is the judgement of one that runs: pure, and fed by its caller.
//
// It watches bytes, not inodes, and what the file system says of itself: a
// quota of the user that the file system does not subtract is not seen.
package diskspace
