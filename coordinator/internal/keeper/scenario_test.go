package keeper

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/coordinator/internal/scenariotest"
	"github.com/palisade-go/palisade/statemachine"
)

// TestScenarios runs the files of testdata. Instants are durations since the
// start of the clock. The commands are:
//
//	hold SEQ ttl=D [limit=D send=D]   a lease; send is the first send of the
//	                                  batch that its record names
//	wait SEQ ttl=D [limit=D]          a place in line
//	drop SEQ                          it was given back
//	sent at=D                         a new batch goes out
//	heard send=D                      a batch first sent then was seen applied
//	failed                            an attempt came to nothing
//	hurry                             the leader changed
//	usable at=D ttl=D [limit=D send=D]
//	look at=D                         what is over, and when to renew and wake
func TestScenarios(t *testing.T) {
	scenariotest.Run(t, func(*testing.T) scenariotest.Play { return director{New(), map[statemachine.Seq]time.Duration{}}.play })
}

// director carries out the commands of a scenario.
type director struct {
	k    *Keeper
	ttls map[statemachine.Seq]time.Duration
}

func (d director) play(c scenariotest.Command) (string, error) {
	seq := func() statemachine.Seq { return statemachine.Seq(c.Number(0)) }
	instant := func(name string) clock.Instant { return clock.Instant(c.Duration(name, 0)) }
	ttl, limit := c.Duration("ttl", 0), c.Duration("limit", 0)
	switch c.Verb {
	case "hold":
		d.ttls[seq()] = ttl
		if end := d.k.Hold(seq(), ttl, limit, instant("send")); limit > 0 {
			return fmt.Sprintf("its limit is reached at %v\n", time.Duration(end)), nil
		}
	case "wait":
		d.ttls[seq()] = ttl
		d.k.Wait(seq(), ttl, limit)
	case "drop":
		d.k.Drop(seq(), d.ttls[seq()])
	case "sent":
		d.k.Sent(instant("at"))
	case "heard":
		if d.k.Heard(instant("send")) {
			return "recovered\n", nil
		}
	case "failed":
		if d.k.Failed() {
			return "endangered\n", nil
		}
		return "still endangered\n", nil
	case "hurry":
		d.k.Hurry()
	case "usable":
		if d.k.Usable(instant("at"), ttl, limit, instant("send")) {
			return "usable\n", nil
		}
		return "too late\n", nil
	case "look":
		return d.look(instant("at")), nil
	default:
		return "", fmt.Errorf("unknown command %q", c.Verb)
	}
	return "", nil
}

func (d director) look(now clock.Instant) string {
	var out strings.Builder
	for _, o := range d.k.TakeOver(now) {
		fmt.Fprintf(&out, "%d is over: %s\n", o.Seq, map[Reason]string{TTLPassed: "ttl", LimitPassed: "limit"}[o.Reason])
	}
	next, ok := d.k.Next(now)
	renew, due := d.k.RenewAt()
	switch {
	case !ok && !due:
		out.WriteString("nothing is kept\n")
	case ok && due && renew <= now:
		fmt.Fprintf(&out, "renew now, wake at %v\n", time.Duration(next))
	case ok && due:
		fmt.Fprintf(&out, "renew at %v, wake at %v\n", time.Duration(renew), time.Duration(next))
	default:
		fmt.Fprintf(&out, "Next says %v, and RenewAt %v\n", ok, due)
	}
	return out.String()
}
