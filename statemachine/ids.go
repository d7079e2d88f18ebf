package statemachine

import (
	"encoding/hex"
	"fmt"
)

// NodeID names a member of the cluster. Zero names no node; it marks the
// leader's own batches. Ids are never given out twice.
type NodeID uint64

// GroupID names one Raft group. Groups are numbered from 1.
type GroupID uint64

// Incarnation says which start of a node is meant. It rises with every start.
type Incarnation uint64

// BatchNumber counts the batches of one incarnation for one group: 1, 2, 3 ….
type BatchNumber uint64

// Seq numbers the requests of a node. Seqs are node-wide and never reused
// within an incarnation.
type Seq uint64

// Index is a position in the log of a group.
type Index uint64

// Version is a version of the machine's rules. A group starts at version 1.
type Version uint64

// Binary is the newest machine version that this code knows.
const Binary Version = 1

// DirectoryID is the random name that a data directory got when it was made.
type DirectoryID [16]byte

// String returns the id in hexadecimal.
func (d DirectoryID) String() string { return hex.EncodeToString(d[:]) }

// LeaseID names one request and the lease that may come of it. It is unique
// to one acquisition, so a release, an expiry or a limit that names it can't
// hit another.
type LeaseID struct {
	Node        NodeID
	Incarnation Incarnation
	Seq         Seq
}

// String returns the id as node.incarnation.seq.
func (id LeaseID) String() string {
	return fmt.Sprintf("%d.%d.%d", id.Node, id.Incarnation, id.Seq)
}
