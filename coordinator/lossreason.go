package coordinator

import "github.com/palisade-go/palisade/coordinator/internal/hub"

// LossReason says why a lease was lost.
type LossReason uint8

// The reasons for a loss.
const (
	LossUnknown LossReason = iota // the group's state no longer has it
	LossWindow                    // its group was not heard in time: the safe window is over
	LossLimit                     // its max hold is reached
	LossExpired                   // its group has expired it
	LossSwept                     // its group takes this start of the node for gone
	LossClosed                    // the node was closed, or had to stop by itself
)

// noLoss is the reason of a lease that was released.
const noLoss = LossUnknown

var lossReasonNames = [...]string{"unknown", "window", "limit", "expired", "swept", "closed"}

// String returns the name.
func (r LossReason) String() string { return nameOf(lossReasonNames[:], int(r)) }

// lossReasonOf is the reason that a group's hub gives, to others.
func lossReasonOf(reason hub.LossReason) LossReason {
	switch reason {
	case hub.LostWindow:
		return LossWindow
	case hub.LostLimit:
		return LossLimit
	case hub.LostExpired:
		return LossExpired
	case hub.LostSwept:
		return LossSwept
	}
	return LossUnknown
}

// text says it in words, for an error.
func (r LossReason) text() string {
	switch r {
	case LossWindow:
		return "its window is over: the key's group was not heard in time"
	case LossLimit:
		return "its max hold is reached"
	case LossExpired:
		return "the group has expired it"
	case LossSwept:
		return "the group takes this start of the node for gone"
	}
	return "the group no longer has it"
}
