package hub

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/internal/batcher"
	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/coordinator/internal/scenariotest"
	"github.com/palisade-go/palisade/statemachine"
)

// TestScenarios runs the files of testdata: the hub of node 1 against the lock
// machine. A batch that the hub sends is in the air until a command delivers
// it to the log or drops it. Lines of the log begin with "log", what the hub
// says with "->". The commands are:
//
//	start                               the announcement
//	acquire NAME KEY… [ttl=D limit=D queue=N]   ttl is 10s by default
//	try NAME KEY… [ttl=D limit=D]
//	cancel|release|distrust NAME
//	mark|unmark NAME
//	leave
//	leader                              the leader changed
//	fail N [attempt=N]                  an attempt of batch N came to nothing
//	deliver N…                          batches N come to the log, again maybe
//	drop N…                             they are lost
//	other NODE acquire|try|cancel|release SEQ KEY…   a batch of another node
//	expire [last=N ttl=D], limit NAME, sweep    by the leader; last: batch named
//	impostor [incarnation=N directory=N number=N release=SEQ acquire=SEQ]
//	                                    a batch of node 1 that is not the hub's
//	stall, resume                       the replica stops and catches up
//	install [NAME]                      a snapshot of the machine, now or as saved
//	save NAME
//	advance D                           time goes on, the shell ticks
//	jump D                              time goes on, nobody looks
//	state                               of hub and machine
func TestScenarios(t *testing.T) {
	scenariotest.Run(t, func(t *testing.T) scenariotest.Play { return newDirector(t).play })
}

const self = statemachine.NodeID(1)

// testConfig is that of a node with an election timeout of 1 s.
func testConfig(identity batcher.Identity) Config {
	seq := statemachine.Seq(0)
	return Config{
		Identity: identity,
		NextSeq:  func() statemachine.Seq { seq++; return seq },
		Wall:     func() int64 { return 0 },
		Attempt:  time.Second,
		Backoff:  50 * time.Millisecond,
	}
}

// director carries out the commands of a scenario.
type director struct {
	t       *testing.T
	hub     *Hub
	now     clock.Instant
	machine *statemachine.Machine
	index   statemachine.Index
	// air has the batches that were sent, and not dropped since.
	air     map[statemachine.BatchNumber][]byte
	stalled bool
	behind  []entry // what the stalled replica has not told the hub
	others  map[statemachine.NodeID]statemachine.BatchNumber
	saved   map[string]State
	refs    map[string]Ref
	out     script
}

// entry is one log entry's events.
type entry struct {
	index  statemachine.Index
	events []statemachine.Event
}

func newDirector(t *testing.T) *director {
	d := &director{
		t:       t,
		hub:     New(testConfig(batcher.Identity{Node: self, Directory: statemachine.DirectoryID{1}, Incarnation: 1})),
		machine: statemachine.New(statemachine.Genesis{Group: 1, Members: []statemachine.NodeID{1, 2, 3}}),
		air:     map[statemachine.BatchNumber][]byte{},
		others:  map[statemachine.NodeID]statemachine.BatchNumber{},
		saved:   map[string]State{},
		refs:    map[string]Ref{},
	}
	d.out.names = map[Ref]string{}
	return d
}

func (d *director) play(c scenariotest.Command) (string, error) {
	if !d.input(c) && !d.world(c) {
		return "", fmt.Errorf("unknown command %q", c.Verb)
	}
	d.told()
	require.NoError(d.t, d.machine.Check())
	return d.out.take(), nil
}

// ref returns the ref of a name, a new one for a new name.
func (d *director) ref(name string) Ref {
	ref, ok := d.refs[name]
	if !ok {
		ref = Ref(len(d.refs) + 1)
		d.refs[name], d.out.names[ref] = ref, name
	}
	return ref
}

func claims(keys []string) []statemachine.Claim {
	var all []statemachine.Claim
	for _, key := range keys {
		all = append(all, statemachine.Claim{Key: key, Mode: statemachine.Exclusive})
	}
	return all
}

// input gives the hub an input of its shell.
func (d *director) input(c scenariotest.Command) bool {
	name := func() Ref { return d.ref(c.Word(0)) }
	switch c.Verb {
	case "start":
		d.hub.Flush(d.now)
	case "acquire", "try":
		words := c.Words()
		d.hub.Acquire(d.ref(words[0]), Ask{
			Claims: claims(words[1:]), Wait: c.Verb == "acquire",
			TTL: c.Duration("ttl", 10*time.Second), Limit: c.Duration("limit", 0), QueueMax: c.Uint("queue", 0),
		}, d.now)
	case "cancel":
		d.hub.Cancel(name(), d.now)
	case "release":
		d.hub.Release(name(), d.now)
	case "distrust":
		d.hub.Distrust(name(), d.now)
	case "mark":
		d.hub.Mark(name(), d.now)
	case "unmark":
		d.hub.Unmark(name())
		return true
	case "leave":
		d.hub.Leave(d.now)
	case "hold":
		d.hub.Hold(d.now.Add(d.duration(c)))
	case "leader":
		d.hub.LeaderChanged(d.now)
	case "fail":
		number := statemachine.BatchNumber(c.Number(0))
		attempt := 0
		for _, f := range d.hub.batcher.Flights() {
			if f.Number == number {
				attempt = f.Attempt
			}
		}
		d.hub.AttemptFailed(number, int(c.Uint("attempt", uint64(attempt))), d.now)
	case "advance":
		d.advance(d.duration(c))
	case "jump":
		d.now = d.now.Add(d.duration(c))
		return true // nobody looks
	default:
		return false
	}
	d.hub.Flush(d.now)
	return true
}

func (d *director) duration(c scenariotest.Command) time.Duration {
	by, err := time.ParseDuration(c.Word(0))
	require.NoError(d.t, err)
	return by
}

// advance lets time go on as the shell does, which ticks when Next says so.
func (d *director) advance(by time.Duration) {
	end := d.now.Add(by)
	for {
		next, ok := d.hub.Next(d.now)
		if !ok || next > end {
			break
		}
		d.now = max(d.now, next)
		d.tick()
	}
	d.now = end
	d.tick()
}

func (d *director) tick() {
	d.hub.Flush(d.now)
	d.told()
	next, ok := d.hub.Next(d.now)
	require.True(d.t, !ok || next > d.now, "at %v the shell would tick again at once, for ever", time.Duration(d.now))
}

// told notes what the hub has said since, and puts what it sent into the air.
func (d *director) told() {
	for _, e := range d.hub.Effects() {
		if send, ok := e.(Send); ok {
			before, again := d.air[send.Number]
			require.True(d.t, !again || string(before) == string(send.Data), "a retry is the same bytes")
			d.air[send.Number] = send.Data
		}
		d.out.effect(d.now, e)
	}
}
