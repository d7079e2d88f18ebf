package hub

import (
	"time"

	"github.com/palisade-go/palisade/statemachine"
)

// phase is where a request is; see the package comment.
type phase uint8

const (
	asked phase = iota + 1
	queued
	held
	leaving
)

// ending is the command that ends a request.
type ending uint8

const (
	cancel ending = iota + 1
	release
)

// request is one acquire on its way, up to the end of its lease. One without
// a ref has no caller: the hub found it in the group and gives it back. There
// can be a million leases, so what only some phases need is behind a pointer.
type request struct {
	ref Ref
	seq statemachine.Seq
	ttl time.Duration
	// ask is what was asked for, for asking again. A lease is not asked for
	// again: of it, it is nil.
	ask   *Ask
	phase phase
	by    ending // of a leaving request
	// late says that what is being given back came too late, and that the
	// caller still waits for something better.
	late bool
}

// last returns the command that ends a leaving request.
func (r *request) last() statemachine.Command {
	if r.by == release {
		return statemachine.Release{Seq: r.seq}
	}
	return statemachine.Cancel{Seq: r.seq}
}

// Ask is what a caller wants; see statemachine.Acquire.
type Ask struct {
	Claims    []statemachine.Claim
	Wait      bool
	TTL       time.Duration
	Limit     time.Duration
	RequestID string
	Metadata  string
	QueueMax  uint64
}

func (a Ask) command(seq statemachine.Seq) statemachine.Acquire {
	return statemachine.Acquire{
		Seq: seq, Claims: a.Claims, Wait: a.Wait, TTL: a.TTL, Limit: a.Limit,
		RequestID: a.RequestID, Metadata: a.Metadata, QueueMax: a.QueueMax,
	}
}
