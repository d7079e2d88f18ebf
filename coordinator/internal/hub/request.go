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

// request is one acquire on its way, up to the end of its lease. One without
// a ref has no caller: the hub found it in the group and gives it back.
type request struct {
	ref   Ref
	seq   statemachine.Seq
	phase phase
	// ask is what was asked for, for asking again.
	ask Ask
	// ending is the Cancel or Release of a leaving request.
	ending statemachine.Command
	// late says that what is being given back came too late, and that the
	// caller still waits for something better.
	late bool
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
