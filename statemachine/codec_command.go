package statemachine

import (
	"fmt"
	"time"
)

// The codes of commands are part of the format; never renumber.
const (
	codeAcquire     = 1
	codeCancel      = 2
	codeRelease     = 3
	codeLeave       = 4
	codeExpire      = 5
	codeExpireLimit = 6
	codeSweep       = 7
	codeUpgrade     = 8
)

// form is how a command is written: its code, and the machine version since
// which this form has a meaning.
type form struct {
	code  uint64
	since Version
}

// formOf returns the form of a command, false for one that has none: Unknown,
// nil and pointers.
func formOf(c Command) (form, bool) {
	switch c.(type) {
	case Acquire:
		return form{codeAcquire, 1}, true
	case Cancel:
		return form{codeCancel, 1}, true
	case Release:
		return form{codeRelease, 1}, true
	case Leave:
		return form{codeLeave, 1}, true
	case Expire:
		return form{codeExpire, 1}, true
	case ExpireLimit:
		return form{codeExpireLimit, 1}, true
	case Sweep:
		return form{codeSweep, 1}, true
	case Upgrade:
		return form{codeUpgrade, 1}, true
	}
	return form{}, false
}

// knows says whether this binary can read the body of the form.
func knows(f form) bool { return f.code >= codeAcquire && f.code <= codeUpgrade && f.since <= Binary }

// claimBytesMin is the length of the shortest claim: mode, head of a key.
const claimBytesMin = 3

// command writes c. An Unknown is written without a body, which nobody kept.
func (w *writer) command(c Command) {
	f, ok := formOf(c)
	if u, unknown := c.(Unknown); unknown {
		f, ok = form{u.Code, u.Version}, true
		if knows(f) || f.since == 0 {
			w.note(fmt.Errorf("unknown command with the known code %d and version %d", u.Code, u.Version))
		}
	}
	if !ok {
		w.note(fmt.Errorf("%T is no command", c))
		return
	}
	w.uint(f.code)
	w.uint(uint64(f.since))
	body := newWriter(nil)
	body.body(c)
	data, err := body.finish()
	w.note(err)
	w.bin("body", string(data), BatchBytesMax)
}

// body writes the fields of c.
func (w *writer) body(c Command) {
	switch c := c.(type) {
	case Acquire:
		w.uint(uint64(c.Seq))
		w.bool(c.Wait)
		w.int(int64(c.TTL))
		w.int(int64(c.Limit))
		w.bin("request id", c.RequestID, RequestIDBytesMax)
		w.bin("metadata", c.Metadata, MetadataBytesMax)
		w.uint(c.QueueMax)
		w.claims(c.Claims)
	case Cancel:
		w.uint(uint64(c.Seq))
	case Release:
		w.uint(uint64(c.Seq))
	case Expire:
		w.uint(uint64(c.Node))
		w.uint(uint64(c.Incarnation))
		w.uint(uint64(c.Last))
		w.int(int64(c.TTL))
	case ExpireLimit:
		w.uint(uint64(c.Lease.Node))
		w.uint(uint64(c.Lease.Incarnation))
		w.uint(uint64(c.Lease.Seq))
	case Sweep:
		w.uint(uint64(c.Node))
	case Upgrade:
		w.uint(uint64(c.Version))
	}
}

func (w *writer) claims(claims []Claim) {
	w.count("claims", len(claims), ClaimsMax)
	for _, c := range claims {
		w.uint(uint64(c.Mode))
		w.bin("key", c.Key, KeyBytesMax)
	}
}

// command reads one command. The body of a form that this binary does not know
// is passed over unread.
func (r *reader) command() Command {
	f := form{code: r.uint("command code"), since: Version(r.uint("command version"))}
	n := r.binLen("command body", BatchBytesMax)
	if r.err != nil {
		return nil
	}
	if f.since == 0 {
		r.fail("command version 0")
		return nil
	}
	if !knows(f) {
		r.take(n)
		return Unknown{Code: f.code, Version: f.since}
	}
	limit := r.limit
	r.limit = r.at() + n
	c := r.body(f)
	r.end("command body")
	r.limit = limit
	return c
}

// body reads the fields of a known form.
func (r *reader) body(f form) Command {
	switch f.code {
	case codeAcquire:
		return Acquire{
			Seq:       Seq(r.uint("seq")),
			Wait:      r.bool("wait"),
			TTL:       time.Duration(r.int("TTL")),
			Limit:     time.Duration(r.int("limit")),
			RequestID: r.bin("request id", RequestIDBytesMax),
			Metadata:  r.bin("metadata", MetadataBytesMax),
			QueueMax:  r.uint("queue max"),
			Claims:    r.claims(),
		}
	case codeCancel:
		return Cancel{Seq: Seq(r.uint("seq"))}
	case codeRelease:
		return Release{Seq: Seq(r.uint("seq"))}
	case codeLeave:
		return Leave{}
	case codeExpire:
		return Expire{
			Node:        NodeID(r.uint("node")),
			Incarnation: Incarnation(r.uint("incarnation")),
			Last:        BatchNumber(r.uint("last")),
			TTL:         time.Duration(r.int("TTL")),
		}
	case codeExpireLimit:
		return ExpireLimit{Lease: LeaseID{
			Node:        NodeID(r.uint("node")),
			Incarnation: Incarnation(r.uint("incarnation")),
			Seq:         Seq(r.uint("seq")),
		}}
	case codeSweep:
		return Sweep{Node: NodeID(r.uint("node"))}
	default: // codeUpgrade: knows admits no other
		return Upgrade{Version: Version(r.uint("version"))}
	}
}

func (r *reader) claims() []Claim {
	n := r.count("claims", ClaimsMax, claimBytesMin)
	if r.err != nil || n == 0 {
		return nil
	}
	claims := r.room[:0]
	if r.room == nil {
		claims = make([]Claim, 0, n)
	}
	for range n {
		mode := r.uint("mode")
		if mode > 255 {
			r.fail("mode: %d, at most 255 is allowed", mode)
		}
		claims = append(claims, Claim{Mode: Mode(mode), Key: r.bin("key", KeyBytesMax)})
	}
	return claims
}
