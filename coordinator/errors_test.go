package coordinator

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/internal/hub"
	"github.com/palisade-go/palisade/statemachine"
	"github.com/palisade-go/palisade/token"
)

func TestErrorsNameWhatIsWrong(t *testing.T) {
	cause := errors.New("why")
	require.EqualError(t, &Error{"Acquire", "key", NotApplied, cause}, `palisade: Acquire "key" (not applied): why`)
	require.EqualError(t, &Error{"Do", "a\x00", Applied, cause}, `palisade: Do "a\x00" (applied): why`)
	require.EqualError(t, &Error{Op: "WaitReady", Err: cause}, `palisade: WaitReady (unknown): why`)
	require.ErrorIs(t, fmt.Errorf("wrapped: %w", &Error{Err: cause}), cause)
	require.Equal(t, Unknown, (&Error{}).Outcome, "the zero value promises nothing")

	since := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	one, err := token.New(0, 7)
	require.NoError(t, err)
	busy := &BusyError{[]Holder{{Key: "a", Node: 2, Token: one, Since: since, Metadata: "a secret"}, {Key: "b", Node: 3, Token: one, Since: since}}}
	require.EqualError(t, busy, `taken: "a" is held by node 2 with token 7 since 2026-11-29T12:00:00Z; "b" is held by node 3 with token 7 since 2026-11-29T12:00:00Z`)
	require.ErrorIs(t, busy, ErrBusy)
	require.NotErrorIs(t, busy, ErrQueueFull)
	require.EqualError(t, &BusyError{}, "taken: somebody is ahead in line")
}

func TestEveryRefusalOfAGroupHasItsError(t *testing.T) {
	for reason, want := range map[statemachine.RefuseReason]error{
		statemachine.RefusedBusy:      ErrBusy,
		statemachine.RefusedQueueFull: ErrQueueFull,
		statemachine.RefusedExhausted: ErrUnavailable,
		statemachine.RefusedInvalid:   ErrInvalid,
		statemachine.RefusedVersion:   ErrInvalid,
	} {
		require.ErrorIs(t, refusalError(hub.Refused{Reason: reason}), want)
	}
}

func TestEveryLossHasItsText(t *testing.T) {
	seen := make(map[string]bool)
	for reason := hub.LostWindow; reason <= hub.LostUnknown; reason++ {
		text := lossReasonOf(reason).text()
		require.NotEmpty(t, text)
		require.False(t, seen[text], "two losses say %q", text)
		seen[text] = true
	}
}

func TestNamesOfStates(t *testing.T) {
	var names []string
	for s := Lost; s <= Released; s++ {
		names = append(names, s.String())
	}
	require.Equal(t, []string{"lost", "active", "endangered", "releasing", "released"}, names)
	require.Equal(t, []string{"unknown", "not applied", "applied"}, []string{Unknown.String(), NotApplied.String(), Applied.String()})
}
