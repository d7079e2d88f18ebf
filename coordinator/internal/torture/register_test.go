package torture

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/palisade-go/palisade/token"
)

// Register is what the locks protect: a value for each key of a generation,
// which only a token that is not stale may change. It lives in the parent, so
// that it outlasts every writer. The methods with two arguments are called by
// the processes of the nodes.
type Register struct {
	dir string

	mu     sync.Mutex
	open   map[int]*volume
	wrong  []string
	moved  chan struct{} // closed and replaced at each accepted write and each wrong
	stale  int
	writes int
}

// volume is the part of the register for a generation.
type volume struct {
	guard token.Guard

	mu     sync.Mutex
	log    *os.File
	values map[string]string
}

// WriteOrder is a write of a client.
type WriteOrder struct {
	Generation int         `json:"-"`
	Resource   string      `json:"resource"`
	Token      token.Token `json:"token"`
	Value      string      `json:"value"`
}

// logged is a line of a volume's log.
type logged struct {
	WriteOrder
	Accepted bool `json:"accepted"`
}

func newRegister(dir string) *Register {
	return &Register{dir: dir, open: map[int]*volume{}, moved: make(chan struct{})}
}

func (r *Register) logName(generation int) string {
	return filepath.Join(r.dir, fmt.Sprintf("register-%d.log", generation))
}

// begin opens the volume of a generation.
func (r *Register) begin(generation int) error {
	log, err := os.Create(r.logName(generation))
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open[generation] = &volume{log: log, values: map[string]string{}}
	return nil
}

// end closes a volume that nobody writes any more, and returns its values.
func (r *Register) end(generation int) (map[string]string, error) {
	r.mu.Lock()
	v := r.open[generation]
	delete(r.open, generation)
	r.mu.Unlock()
	return v.values, v.log.Close()
}

func (r *Register) volume(generation int) (*volume, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := r.open[generation]
	if v == nil {
		return nil, fmt.Errorf("the register of generation %d is closed", generation)
	}
	return v, nil
}

// Write judges a write, and logs it. The check, the log and the value are one
// step.
func (r *Register) Write(w WriteOrder, stale *bool) error {
	v, err := r.volume(w.Generation)
	if err != nil {
		return err
	}
	err = v.guard.Do(w.Resource, w.Token, func() error { return v.put(w, true) })
	*stale = errors.Is(err, token.ErrStale)
	if *stale {
		err = v.put(w, false)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writes++
	if *stale {
		r.stale++
	}
	r.moveLocked()
	return err
}

func (v *volume) put(w WriteOrder, accepted bool) error {
	text, err := json.Marshal(logged{w, accepted})
	if err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if accepted {
		v.values[w.Resource] = w.Value
	}
	_, err = v.log.Write(append(text, '\n'))
	return err
}

// Read returns the value of a resource.
func (r *Register) Read(w WriteOrder, value *string) error {
	v, err := r.volume(w.Generation)
	if err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	*value = v.values[w.Resource]
	return nil
}

// Report is told what a process has found wrong.
func (r *Register) Report(what string, _ *Nothing) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wrong = append(r.wrong, what)
	r.moveLocked()
	return nil
}

func (r *Register) moveLocked() {
	close(r.moved)
	r.moved = make(chan struct{})
}

// reported returns what the processes have found wrong.
func (r *Register) reported() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.wrong)
}

// overtaken says whether a greater token than one of these was accepted for
// its resource, and returns a channel that is closed when that may have changed.
func (r *Register) overtaken(generation int, writers []Poised) (bool, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := r.open[generation]
	for _, w := range writers {
		if v.guard.Highest(w.Resource) > w.Token {
			return true, r.moved
		}
	}
	return false, r.moved
}

// counts returns how many writes there were, and how many of them were refused.
func (r *Register) counts() (writes, stale int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.writes, r.stale
}
