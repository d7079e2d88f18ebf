package coordinator

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/coordinator/internal/hub"
	"github.com/palisade-go/palisade/statemachine"
)

// errOdd is an error that nobody expects of the engine.
var errOdd = errors.New("not the primary, or something")

// oddProposer answers the next attempts in ways that it shouldn't, and passes
// the others on. It belongs to the group's goroutine.
type oddProposer struct {
	proposer
	answers []func(pass func(done func(error)), done func(error))
	met     int
}

// Propose implements proposer.
func (p *oddProposer) Propose(group statemachine.GroupID, data []byte, timeout time.Duration, done func(error)) {
	pass := func(done func(error)) { p.proposer.Propose(group, data, timeout, done) }
	if p.met == len(p.answers) {
		pass(done)
		return
	}
	p.met++
	p.answers[p.met-1](pass, done)
}

// install puts the proposer between a group and its engine.
func (p *oddProposer) install(g *group) {
	g.mail.put(func(*hub.Hub, clock.Instant) { p.proposer, g.proposer = g.proposer, p })
}

// answersMet returns how many attempts it has answered.
func (p *oddProposer) answersMet(g *group) int {
	met := make(chan int, 1)
	g.mail.put(func(*hub.Hub, clock.Instant) { met <- p.met })
	return <-met
}

// S09: an error that nobody expects, or an answer that never comes, does not
// end the loop that renews.
func TestS09TheRenewingOutlivesAnOddError(t *testing.T) {
	odd := func(_ func(func(error)), done func(error)) { done(errOdd) }
	for name, answers := range map[string][]func(func(func(error)), func(error)){
		"InsteadOfAnAttempt": {odd},
		"ManyTimesInARow":    {odd, odd, odd, odd, odd},
		"ForAnAttemptThatIsApplied": {func(pass func(func(error)), done func(error)) {
			pass(func(error) { done(errOdd) })
		}},
		"NoAnswerAtAll":           {func(func(func(error)), func(error)) {}},
		"NoAnswerToOneThatIsDone": {func(pass func(func(error)), _ func(error)) { pass(func(error) {}) }},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			c, err := Open(ctx, Config{Dir: t.TempDir(), Groups: 1})
			require.NoError(t, err)
			defer func() { require.NoError(t, c.Close()) }()
			lease, err := c.Acquire(ctx, "key", WithTTL(time.Hour))
			require.NoError(t, err)
			g, token := c.groups[0], lease.Token()
			p := &oddProposer{answers: answers}
			p.install(g)
			for range 3 { // the odd ones, and then good ones
				renewed, _ := g.mark(c.newRef())
				select {
				case <-renewed:
				case <-ctx.Done():
					require.FailNow(t, "nothing is renewed any more")
				}
			}
			require.Equal(t, len(answers), p.answersMet(g))
			require.NoError(t, lease.Err())
			require.Equal(t, token, lease.Token())
			require.Equal(t, Active, lease.State())
			require.NoError(t, lease.Release(ctx))
			again, err := c.Acquire(ctx, "key")
			require.NoError(t, err)
			require.Greater(t, again.Token(), token)
			require.NoError(t, again.Release(ctx))
		})
	}
	t.Run("OneThatStaysIsALossAndNoEndOfTheNode", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		c, err := Open(ctx, Config{Dir: t.TempDir(), Groups: 1})
		require.NoError(t, err)
		defer func() { require.NoError(t, c.Close()) }()
		lease, err := c.Acquire(ctx, "key", WithTTL(4*SingleElectionTimeout))
		require.NoError(t, err)
		g := c.groups[0]
		p := &oddProposer{}
		for range 1 << 16 { // more than there will be attempts
			p.answers = append(p.answers, odd)
		}
		p.install(g)
		select {
		case <-lease.Done():
		case <-ctx.Done():
			require.FailNow(t, "the loss is not noticed")
		}
		require.ErrorIs(t, lease.Err(), ErrLeaseLost)
		require.NotZero(t, p.answersMet(g))
		g.mail.put(func(*hub.Hub, clock.Instant) { p.answers = p.answers[:p.met] })
		again, err := c.Acquire(ctx, "key")
		require.NoError(t, err, "the same node goes on")
		require.Greater(t, again.Token(), lease.Token())
		require.NoError(t, again.Release(ctx))
	})
}
