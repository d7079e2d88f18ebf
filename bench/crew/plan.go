package crew

import (
	"fmt"
	"time"
)

// Keys says which keys a worker takes.
type Keys int

// The ways to choose keys.
const (
	// Own: each worker goes round 16 keys of its own, one at a time, so that
	// even a single worker meets all groups.
	Own Keys = iota
	// One: all workers take the same key.
	One
	// Many: each worker takes 16 keys of its own at once.
	Many
)

// keysEach is how many keys a worker has of its own, and takes at once with
// Many.
const keysEach = 16

// Plan is what the workers of a site do.
type Plan struct {
	// Workers is how many work at this site, and First the number of the
	// first of them among those of all sites.
	Workers, First int
	Keys           Keys
	// Prefix begins the name of all keys; with One it is the key.
	Prefix string
	// Pairs are counted for the time For, which begins after Warm.
	Warm, For time.Duration
	// Turns ends each worker after so many. Default: they go on for the whole
	// time.
	Turns int
	// Pause is how long a worker rests after each pair. Default: not at all.
	Pause time.Duration
	// Patient workers go on when a lock fails, as they do while a leader is
	// dead. Default: the first failure fails the run.
	Patient bool
	// Stamps asks for the instants of all grants.
	Stamps bool
}

// keys returns the keys of a worker's turn, for all its turns.
func (p Plan) keys(worker int) func(turn int) []string {
	if p.Keys == One {
		one := []string{p.Prefix}
		return func(int) []string { return one }
	}
	own := make([]string, keysEach)
	for i := range own {
		own[i] = fmt.Sprintf("%s/%d/%d", p.Prefix, worker, i)
	}
	if p.Keys == Many {
		return func(int) []string { return own }
	}
	return func(turn int) []string { return own[turn%keysEach : turn%keysEach+1] }
}

// Split gives each of some sites its part of a plan for all of them. With fewer
// workers than sites, some have none.
func (p Plan) Split(sites int) []Plan {
	parts := make([]Plan, sites)
	first := p.First
	for i := range parts {
		parts[i] = p
		parts[i].First = first
		parts[i].Workers = p.Workers / sites
		if i < p.Workers%sites {
			parts[i].Workers++
		}
		first += parts[i].Workers
	}
	return parts
}
