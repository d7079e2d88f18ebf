package transport

import (
	"encoding/binary"
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"time"
)

// direction names a path.
type direction struct{ from, to string }

// opposite returns the way back.
func (d direction) opposite() direction { return direction{from: d.to, to: d.from} }

// path is one direction of a Memory: its faults, its random source and its
// counters. Paths are made when first named and live as long as the network.
type path struct {
	mu       sync.Mutex
	faults   faults
	isolated bool // one of the two addresses is; set by Memory
	random   *rand.Rand
	stats    Stats
}

// faults are what Heal takes away. The zero value is a sound path.
type faults struct {
	cut                bool
	hole               bool
	delayMin, delayMax time.Duration
	drop, duplicate    float64 // probabilities, 0..1
}

// fate is what the faults decided about one frame.
type fate struct {
	vanishes bool
	copies   int // 1 or 2
	delay    time.Duration
}

// newPath makes a sound path whose random source follows from seed and d.
func newPath(seed int64, d direction) *path {
	// The length goes first so that no two pairs hash the same bytes.
	hash := fnv.New64a()
	_, _ = hash.Write(binary.BigEndian.AppendUint64(nil, uint64(len(d.from))))
	_, _ = hash.Write([]byte(d.from))
	_, _ = hash.Write([]byte(d.to))
	return &path{random: rand.New(rand.NewPCG(uint64(seed), hash.Sum64()))}
}

// set changes the faults.
func (p *path) set(change func(*faults)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.faults)
}

// setIsolated says whether one of the two addresses is isolated.
func (p *path) setIsolated(isolated bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isolated = isolated
}

// isCut says whether dials must fail.
func (p *path) isCut() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.faults.cut
}

// swallows says whether packets vanish now.
func (p *path) swallows() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.faults.hole || p.isolated
}

// draw decides about the next frame. It always takes three numbers from the
// source, so that switching one fault on leaves what the others decide about
// later frames as it was.
func (p *path) draw() fate {
	p.mu.Lock()
	defer p.mu.Unlock()
	dropped := p.random.Float64() < p.faults.drop
	doubled := p.random.Float64() < p.faults.duplicate
	share := p.random.Float64()
	decided := fate{
		vanishes: dropped || p.faults.hole || p.isolated,
		copies:   1,
		delay:    p.faults.delayMin + time.Duration(share*float64(p.faults.delayMax-p.faults.delayMin)),
	}
	if doubled {
		decided.copies = 2
	}
	return decided
}

// count adds to the counters.
func (p *path) count(more Stats) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stats = p.stats.plus(more)
}

// counted returns the counters.
func (p *path) counted() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stats
}
