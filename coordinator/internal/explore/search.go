package explore

import (
	"fmt"
	"slices"
	"strings"
)

// Result is what a search saw.
type Result struct {
	States, Transitions int
	Depth               int  // of the state that is farthest from the first
	Complete            bool // every state that can be reached was seen
	// Met says in how many transitions each note was met.
	Met [NoteCount]int
	// Broken is the guarantee that does not hold, and Path the shortest way
	// there, as choices for Replay; "" if all hold.
	Broken string
	Path   []int
	// Machines, Lives and Offices say how many different ones there were.
	Machines, Lives, Offices int
	// Rested is how many states were brought to rest, on the way too, and
	// Slowest how many units of time that took at most.
	Rested  int
	Slowest uint32
}

// search is one walk over all states, those that are near first.
type search struct {
	*explorer
	healer healer
	known  map[identity]struct{}
	origin []origin // how each state was reached first, by its number
	level  []state  // all at the present depth
	first  uint32   // the number of level[0]
	next   []state  // those that were found one deeper
	Result
}

// origin is the transition that reached a state first.
type origin struct {
	state  uint32 // its number
	choice uint8  // which of the actions there
}

// Search visits every state that can be reached. It stops early at the first
// transition that breaks a guarantee, and when enough says so.
func Search(cfg Config, enough func(states int) bool) Result {
	s := newSearch(cfg)
	s.Complete = s.walk(enough)
	s.States = len(s.origin)
	s.Machines, s.Lives, s.Offices = len(s.book.machines.all), len(s.lives.all.all), len(s.offices.all.all)
	s.Rested, s.Slowest = len(s.healer.healed), s.healer.slowest
	return s.Result
}

func newSearch(cfg Config) *search {
	s := &search{explorer: newExplorer(cfg), known: map[identity]struct{}{}, origin: []origin{{}}}
	s.healer = healer{x: s.explorer, healed: map[identity]uint32{}}
	first := s.explorer.first()
	s.known[first.identity()] = struct{}{}
	s.level = []state{first}
	return s
}

func (s *search) walk(enough func(int) bool) (complete bool) {
	for {
		for i := range s.level {
			if enough(len(s.origin)) {
				return false
			}
			for choice, a := range s.actions(&s.level[i]) {
				if !s.visit(s.level[i], a, origin{s.first + uint32(i), uint8(choice)}) {
					return false
				}
			}
		}
		if len(s.next) == 0 {
			return true
		}
		s.first += uint32(len(s.level))
		s.level, s.next = s.next, nil
		s.Depth++
	}
}

// visit takes one transition. It reports whether all guarantees hold.
func (s *search) visit(at state, a action, from origin) bool {
	did := s.do(&at, a)
	if did.beyond {
		return true
	}
	s.Transitions++
	did.notes.each(func(n Note) { s.Met[n]++ })
	if did.broken == "" && did.full {
		did.broken = "the network is full: the world is too large"
	}
	if did.broken != "" {
		s.Broken, s.Path = did.broken, s.path(from)
		return false
	}
	id := at.identity()
	if _, ok := s.known[id]; ok {
		return true
	}
	s.known[id] = struct{}{}
	if len(s.origin)%s.cfg.HealEvery == 0 {
		if broken := s.healer.heal(at); broken != "" {
			s.Broken, s.Path = "then it does not come to rest: "+broken, s.path(from)
			return false
		}
	}
	s.origin = append(s.origin, from)
	s.next = append(s.next, at)
	return true
}

// path returns the choices that lead to the end of a transition.
func (s *search) path(from origin) []int {
	path := []int{int(from.choice)}
	for from.state != 0 {
		from = s.origin[from.state]
		path = append(path, int(from.choice))
	}
	slices.Reverse(path)
	return path
}

// Replay tells what happens on a path, and which guarantee does not hold at
// its end.
func Replay(cfg Config, path []int) (story, broken string) {
	x := newExplorer(cfg)
	s := x.first()
	var text strings.Builder
	var passed uint32
	for n, choice := range path {
		list := x.actions(&s)
		if choice >= len(list) {
			return text.String(), fmt.Sprintf("step %d: there are only %d choices", n+1, len(list))
		}
		a := list[choice]
		fmt.Fprintf(&text, "%3d. at %3d: %s\n", n+1, passed, x.describe(&s, a))
		if a.kind == passes || a.kind == rests {
			passed += x.step(&s)
		}
		if did := x.do(&s, a); did.broken != "" {
			return text.String(), did.broken
		}
	}
	h := healer{x: x, healed: map[identity]uint32{}}
	if broken := h.heal(s); broken != "" {
		return text.String() + h.told(s), "then it does not come to rest: " + broken
	}
	return text.String(), ""
}
