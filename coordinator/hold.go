package coordinator

import (
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/coordinator/internal/hub"
	"github.com/palisade-go/palisade/coordinator/internal/keeper"
	"github.com/palisade-go/palisade/token"
)

// hold is what an ownership has in one group: one lease of one request. It
// does not change once made.
type hold struct {
	group    *group
	ref      hub.Ref
	token    token.Token
	ttl      time.Duration
	limitEnd clock.Instant // 0: no limit
	owner    *ownership
}

// windowEnd returns when the lease can't be trusted any longer.
func (h *hold) windowEnd() clock.Instant {
	end := h.group.heardAt().Add(keeper.Window(h.ttl))
	if h.limitEnd != 0 {
		end = min(end, h.limitEnd)
	}
	return end
}

// isOver reports whether the window is over, and why.
func (h *hold) isOver(now clock.Instant) (bool, hub.LossReason) {
	switch {
	case now >= h.group.heardAt().Add(keeper.Window(h.ttl)):
		return true, hub.LostWindow
	case h.limitEnd != 0 && now >= h.limitEnd:
		return true, hub.LostLimit
	}
	return false, 0
}

// distrust tells the group that the owner knows of the loss.
func (h *hold) distrust() {
	h.group.mail.put(func(hb *hub.Hub, now clock.Instant) { hb.Distrust(h.ref, now) })
}

// release gives the lease back to the group.
func (h *hold) release() {
	h.group.mail.put(func(hb *hub.Hub, now clock.Instant) { hb.Release(h.ref, now) })
}
