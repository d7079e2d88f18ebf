package raftnode

import (
	"errors"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/statemachine"
)

// What is in the log is applied on every node, whatever it is.

// insist proposes bytes until the engine has applied them. They may be in the
// log more than once then.
func (p *peer) insist(group statemachine.GroupID, data []byte) {
	p.cluster.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		err := p.propose(group, data, 2*election)
		if err == nil {
			return
		}
		require.True(p.cluster.t, errors.Is(err, ErrNotApplied) || errors.Is(err, ErrUnknownOutcome), "%v", err)
		require.Less(p.cluster.t, time.Now(), deadline, "an entry was not applied")
		p.pause(group)
	}
}

// requireAppliedEqualsTheEngines says that the machine counts the entries that
// the engine does, those too that say nothing to it.
func (p *peer) requireAppliedEqualsTheEngines() {
	p.cluster.t.Helper()
	require.NoError(p.cluster.t, p.node.View(1, func(m *statemachine.Machine) {
		require.GreaterOrEqual(p.cluster.t, uint64(m.Meta().Applied), p.node.Stats(1).AppliedIndex)
	}))
}

// encoded returns the next batch of a node in bytes.
func (p *peer) encoded(commands ...statemachine.Command) []byte {
	data, err := statemachine.AppendBatch(nil, p.batch(1, commands...))
	require.NoError(p.cluster.t, err)
	return data
}

// withCommands returns the next batch of a node, with what stands in the place
// of its number of commands and of the commands.
func (p *peer) withCommands(tail ...byte) []byte {
	data := p.encoded()
	return append(data[:len(data)-1], tail...)
}

// malformed are entries that are no batch.
var malformed = map[string]func(p *peer) []byte{
	"Text":              func(*peer) []byte { return []byte("not a batch at all, but a little longer") },
	"OneByte":           func(*peer) []byte { return []byte{0xff} },
	"NoFormat":          func(p *peer) []byte { data := p.encoded(); data[0] = 0; return data },
	"ALaterFormat":      func(p *peer) []byte { data := p.encoded(); data[0]++; return data },
	"HalfOfABatch":      func(p *peer) []byte { data := p.encoded(); return data[:len(data)/2] },
	"ABatchCutOff":      func(p *peer) []byte { data := p.encoded(statemachine.Leave{}); return data[:len(data)-1] },
	"AByteTooMany":      func(p *peer) []byte { return append(p.encoded(), 0) },
	"TooManyBytes":      func(*peer) []byte { return make([]byte, statemachine.BatchBytesMax+1) },
	"TooManyCommands":   func(p *peer) []byte { return p.withCommands(0xce, 0xff, 0xff, 0xff, 0xff) },
	"CommandsThatLack":  func(p *peer) []byte { return p.withCommands(0xcd, 0x0f, 0xff) },
	"ANumberInLongForm": func(p *peer) []byte { return p.withCommands(0xcc, 0) },
	"ATooLongBody":      func(p *peer) []byte { return p.withCommands(1, 99, 1, 0xc6, 0xff, 0xff, 0xff, 0xff) },
	"ABodyOfAnotherLength": func(p *peer) []byte {
		return p.withCommands(1, 3, 1, 0xc4, 2, 1, 1) // a Release with a seq and one more
	},
	"ACommandOfVersionZero": func(p *peer) []byte { return p.withCommands(1, 3, 0, 0xc4, 1, 1) },
}

func claimsOf(keys ...string) (claims []statemachine.Claim) {
	for _, key := range keys {
		claims = append(claims, statemachine.Claim{Key: key, Mode: statemachine.Exclusive})
	}
	return claims
}

// refusals are batches with one command that every node refuses alike.
var refusals = map[string]struct {
	data   func(p *peer) []byte
	reason statemachine.RefuseReason
}{
	"ACommandOfNoKind":    {func(p *peer) []byte { return p.withCommands(1, 99, 1, 0xc4, 3, 1, 2, 3) }, statemachine.RefusedVersion},
	"ACommandOfALaterOne": {func(p *peer) []byte { return p.withCommands(1, 1, 9, 0xc4, 1, 0xff) }, statemachine.RefusedVersion},
	"NoKey":               acquireOf(statemachine.Acquire{Seq: 99, TTL: 1}),
	"AnEmptyKey":          acquireOf(statemachine.Acquire{Seq: 99, TTL: 1, Claims: claimsOf("")}),
	"KeysNotInOrder":      acquireOf(statemachine.Acquire{Seq: 99, TTL: 1, Claims: claimsOf("b", "a")}),
	"AKeyTwice":           acquireOf(statemachine.Acquire{Seq: 99, TTL: 1, Claims: claimsOf("a", "a")}),
	"AModeOfNoKind":       acquireOf(statemachine.Acquire{Seq: 99, TTL: 1, Claims: []statemachine.Claim{{Key: "a", Mode: 7}}}),
	"NoSeq":               acquireOf(statemachine.Acquire{TTL: 1, Claims: claimsOf("a")}),
	"NoTTL":               acquireOf(statemachine.Acquire{Seq: 99, Claims: claimsOf("a")}),
	"ANegativeTTL":        acquireOf(statemachine.Acquire{Seq: 99, TTL: -1, Claims: claimsOf("a")}),
	"ANegativeLimit":      acquireOf(statemachine.Acquire{Seq: 99, TTL: 1, Limit: -1, Claims: claimsOf("a")}),
	"ALeadersCommand": {func(p *peer) []byte {
		return p.encoded(statemachine.Expire{Node: p.id, Incarnation: p.incarnation, Last: p.batches[0], TTL: time.Hour})
	}, statemachine.RefusedInvalid},
}

func acquireOf(a statemachine.Acquire) (r struct {
	data   func(p *peer) []byte
	reason statemachine.RefuseReason
}) {
	r.data = func(p *peer) []byte { return p.encoded(a) }
	r.reason = statemachine.RefusedInvalid
	return r
}

// strangers are batches that no node takes for those of a member, or that have
// nothing to do.
var strangers = map[string]func(p *peer) statemachine.Batch{
	"OfANodeThatIsNoMember":  func(p *peer) statemachine.Batch { b := p.batch(1); b.Node = 77; return b },
	"OfAnotherDirectory":     func(p *peer) statemachine.Batch { b := p.batch(1); b.Directory[3]++; return b },
	"OfNoIncarnation":        func(p *peer) statemachine.Batch { b := p.batch(1); b.Incarnation = 0; return b },
	"OfNoNumber":             func(p *peer) statemachine.Batch { b := p.batch(1); b.Number = 0; return b },
	"OfALeaderToALaterOne":   leaders(statemachine.Upgrade{Version: statemachine.Binary + 1}),
	"OfALeaderAboutAnybody":  leaders(statemachine.Expire{Node: 77, Incarnation: 1, Last: 1, TTL: -1}, statemachine.Sweep{Node: 77}),
	"OfALeaderForAKey":       leaders(statemachine.Acquire{Seq: 1, TTL: 1, Claims: claimsOf("a")}),
	"OfALeaderWithNoCommand": leaders(),
}

func leaders(commands ...statemachine.Command) func(*peer) statemachine.Batch {
	return func(*peer) statemachine.Batch { return statemachine.Batch{Commands: commands} }
}

// withoutIndex cuts the index of the last entry out of a dump.
func withoutIndex(t *testing.T, dump string) string {
	t.Helper()
	index := regexp.MustCompile(`applied=\d+`)
	require.Regexp(t, index, dump)
	return index.ReplaceAllString(dump, "")
}

func TestEntriesThatMakeNoSenseHaveOneOutcomeOnAllNodesAndStopNothing(t *testing.T) {
	c := start(t, 3)
	p := c.leader(1)
	lease := p.acquire(1, "held", time.Hour)
	for name, data := range malformed {
		t.Run("Skipped"+name, func(t *testing.T) {
			before := p.node.Stats(1).EntriesSkipped
			p.insist(1, data(p))
			require.Greater(t, p.node.Stats(1).EntriesSkipped, before)
			p.requireAppliedEqualsTheEngines()
			p.send(1)
		})
	}
	for name, refusal := range refusals {
		t.Run("Refused"+name, func(t *testing.T) {
			p.insist(1, refusal.data(p))
			number := p.batches[0]
			p.sinks[0].await(t, "the refusal", func() bool {
				return p.sinks[0].find(func(e statemachine.Event) bool {
					r, ok := e.(statemachine.Refused)
					return ok && r.Node == p.id && r.Number == number && r.Reason == refusal.reason
				})
			})
			p.send(1)
		})
	}
	for name, batch := range strangers {
		t.Run("Ignored"+name, func(t *testing.T) {
			before := p.read(1)
			data, err := statemachine.AppendBatch(nil, batch(p))
			require.NoError(t, err)
			skipped, applied := p.node.Stats(1).EntriesSkipped, p.node.Stats(1).AppliedIndex
			p.insist(1, data)
			require.Equal(t, skipped, p.node.Stats(1).EntriesSkipped)
			require.Greater(t, p.node.Stats(1).AppliedIndex, applied)
			require.Equal(t, withoutIndex(t, before), withoutIndex(t, p.read(1)))
			p.send(1)
		})
	}

	dump := p.read(1)
	for _, other := range c.peers {
		require.Equal(t, dump, other.read(1))
		require.Equal(t, p.node.Stats(1).EntriesSkipped, other.node.Stats(1).EntriesSkipped, "node %d", other.id)
	}
	c.requireEqualEvents(1)
	other := c.other(p)
	other.stop()
	require.NoError(t, other.start())
	require.Equal(t, dump, other.read(1), "after a restart")
	require.NoError(t, p.node.View(1, func(m *statemachine.Machine) {
		_, held := m.Lease(lease)
		require.True(t, held)
	}))
}
