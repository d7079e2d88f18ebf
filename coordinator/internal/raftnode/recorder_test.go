package raftnode

import (
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/statemachine"
)

// recorder is a Sink that remembers all it was told.
type recorder struct {
	mu        sync.Mutex
	changed   chan struct{} // closed and replaced at each change
	entries   []entry
	installed []State
	leaders   []LeaderInfo
	inside    int // calls that are running
	overlaps  int // calls that met another one
	closed    bool
	late      int // calls after closed was set
}

func newRecorder() *recorder { return &recorder{changed: make(chan struct{})} }

func (r *recorder) note(change func()) {
	r.mu.Lock()
	r.inside++
	if r.inside > 1 {
		r.overlaps++
	}
	if r.closed {
		r.late++
	}
	r.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inside--
	change()
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *recorder) Applied(index statemachine.Index, events []statemachine.Event) {
	r.note(func() { r.entries = append(r.entries, entry{index, events}) })
}

func (r *recorder) Installed(state State) {
	r.note(func() { r.installed = append(r.installed, state) })
}

func (r *recorder) Leader(leader LeaderInfo) {
	r.note(func() { r.leaders = append(r.leaders, leader) })
}

// await waits until holds, which is called with the recorder locked.
func (r *recorder) await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		r.mu.Lock()
		if holds() {
			r.mu.Unlock()
			return
		}
		changed := r.changed
		r.mu.Unlock()
		select {
		case <-changed:
		case <-timer.C:
			require.FailNow(t, "waited too long for "+what)
		}
	}
}

// find returns the first event that matches.
func (r *recorder) find(match func(statemachine.Event) bool) bool {
	for _, e := range r.entries {
		for _, event := range e.events {
			if match(event) {
				return true
			}
		}
	}
	return false
}

// awaitEvent waits for an event.
func (r *recorder) awaitEvent(t testing.TB, want statemachine.Event) {
	t.Helper()
	r.await(t, fmt.Sprintf("%T%+v", want, want), func() bool {
		return r.find(func(e statemachine.Event) bool { return reflect.DeepEqual(e, want) })
	})
}
