package coordinator

import (
	"runtime"
	"time"
)

// A lease is forgotten when it is held and all its handles have been collected:
// nobody can release it any more. Then it is released here, and logged. The
// rule is to end nothing that anybody can still observe:
//
//   - A handle is kept by whoever has it or a context of it. A lease with
//     several handles, by WithRequestID, is kept by each of them.
//   - A channel keeps nothing, and nobody can see it being collected. So a
//     lease whose channel was ever handed out is left as it is: its holder may
//     wait for the end and do nothing else.
//
// What has ended is observed by nobody. Then what is left of a set is given
// back, and nothing is logged.

// grip makes one more handle of an ownership that is in its callers' hands. It
// is false, and there is no handle, if the ownership has ended.
func (o *ownership) grip() (h *handle, owned bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.errLocked(o.c.env.Clock.Now()) != nil {
		return nil, false
	}
	o.handles++
	o.forgotten = false
	o.asking = nil
	return &handle{o}, true
}

// watch has the handle noticed when it is collected. With one that isn't
// watched, the lease is never taken for forgotten.
func (h *handle) watch() *handle {
	runtime.SetFinalizer(h, func(h *handle) { h.own.handleCollected() })
	return h
}

// handleCollected counts a handle out that was collected. It runs in the one
// goroutine that all finalizers of the program share, so it doesn't wait for
// anything.
func (o *ownership) handleCollected() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.handles--
	if o.handles > 0 {
		return
	}
	o.forgotten = true
	now := o.c.env.Clock.Now()
	if o.errLocked(now) == nil {
		if o.observed.Load() {
			return
		}
		o.logForgottenLocked(now.Sub(o.since))
		o.endLocked(ErrReleased, noLoss, now)
	}
	o.giveLocked()
}

// logForgottenLocked logs what was owned until now, in a goroutine of its own:
// the program's log handler may block. Close waits for the goroutine, for it
// takes o.mu to end o before it begins to wait.
func (o *ownership) logForgottenLocked(held time.Duration) {
	o.c.work.Add(1)
	go func() {
		defer o.c.work.Done()
		token, _ := o.token(o.keys[0])
		o.c.cfg.Logger.Warn("a lease was forgotten without a release: it is released now",
			"node", o.c.cfg.NodeID, "key", keysText(o.keys), "token", token, "held", held)
	}()
}
