package coordinator

import "runtime"

// A leak is a lease that is held and that nobody can release any more, because
// all its handles have been collected. It is released and logged. The rule is
// to end nothing that anybody can still observe:
//
//   - A handle, and a context of it, is kept by whoever has it. The lease of
//     several handles, by WithRequestID, is kept by each.
//   - A channel keeps nothing, and nobody can see it being collected. An
//     ownership whose channel was handed out once is left as it is, for its
//     holder may wait for the end and do nothing else.
//
// What has ended is observed by nobody. Then what is left of a set is given
// back, and nothing is logged.

// grip makes one more handle of an ownership that is in its callers' hands. It
// is false, and there is no handle, if the ownership has ended.
func (o *ownership) grip() (h *handle, owned bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.errLocked() != nil {
		return nil, false
	}
	o.handles++
	o.forsaken = false
	return &handle{o}, true
}

// watch has the handle noticed when it is collected. One that isn't watched
// keeps the ownership from being taken for a leak.
func (h *handle) watch() *handle {
	runtime.SetFinalizer(h, func(h *handle) { h.own.forsake() })
	return h
}

// forsake counts a handle out that was collected. It runs in the one goroutine
// that all finalizers of the program share, so it doesn't wait for anything.
func (o *ownership) forsake() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.handles--
	if o.handles > 0 {
		return
	}
	o.forsaken = true
	if o.errLocked() == nil {
		if o.observed.Load() {
			return
		}
		o.endLocked(ErrReleased)
		o.reportLeakLocked()
	}
	o.giveLocked()
}

// reportLeakLocked logs the leak of an ownership that was owned until now, in
// a goroutine of its own: the program's handler may block. Close waits for the
// goroutine, for it takes o.mu to end o before it begins to wait.
func (o *ownership) reportLeakLocked() {
	held := o.c.env.Clock.Now().Sub(o.since)
	o.c.work.Add(1)
	go func() {
		defer o.c.work.Done()
		token, _ := o.token(o.keys[0])
		o.c.cfg.Logger.Warn("a lease was not released and nobody has it any more: it is released now",
			"node", o.c.cfg.NodeID, "key", keysText(o.keys), "token", token, "held", held)
	}()
}
