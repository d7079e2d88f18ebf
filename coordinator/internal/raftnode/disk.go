package raftnode

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/lni/dragonboat/v4/config"

	"github.com/palisade-go/palisade/coordinator/internal/diskspace"
)

// FS is the engine's own idea of a file system.
type FS = config.IFS

// The free disk space is looked at every lookMax while there is plenty, and the
// more often the less there is, up to every lookMin. So somebody has to write
// 1 GiB/s to use up what a node needs before it is seen. A look costs a few
// microseconds, but wakes a process that sleeps.
const (
	lookMin    = 250 * time.Millisecond
	lookMax    = time.Second
	lookPlenty = 2 << 30
)

// lookAgain returns after how long the free disk space is to be looked at again.
func lookAgain(free uint64) time.Duration {
	plenty := float64(free) / lookPlenty
	return max(lookMin, time.Duration(min(plenty, 1)*float64(lookMax)))
}

// disk watches the free disk space. While the node is short of it, it hands
// over what the node leads: the engine ends the process on the first write
// that fails, and a group whose leader goes so has to elect another one.
//
// The node goes on following: what its leaders send has to be written, and
// can't be refused without being cut off. It may still be elected, and then
// hands over again.
type disk struct {
	node  *Node
	level diskspace.Level
	// blind: the last look failed. Then the last judgement stands.
	blind  bool
	offers []offer // by group, from 1

	free  atomic.Uint64
	short atomic.Pointer[diskspace.Error] // nil: enough
}

func newDisk(n *Node) *disk {
	d := &disk{node: n, offers: make([]offer, len(n.replicas))}
	d.look()
	return d
}

// watch looks until ctx ends.
func (d *disk) watch(ctx context.Context) {
	again := time.NewTimer(lookMin)
	defer again.Stop()
	for {
		now := time.Now()
		if d.short.Load() != nil {
			d.handOver(now)
		}
		again.Reset(onBeat(now, lookAgain(d.free.Load())))
		select {
		case <-ctx.Done():
			return
		case <-again.C:
			d.look()
		}
	}
}

// look judges the free disk space.
func (d *disk) look() {
	n := d.node
	free, err := n.cfg.Gauge(n.cfg.Dir)
	if err != nil {
		if !d.blind {
			n.log.Warn("can't find out how much disk space is free", "dir", n.cfg.Dir, "cause", err)
		}
		d.blind = true
		return
	}
	d.blind = false
	d.free.Store(free)
	short, changed := d.level.See(free)
	switch {
	case short:
		now := &diskspace.Error{Dir: n.cfg.Dir, FreeBytes: free, NeededBytes: d.level.NeededBytes()}
		d.short.Store(now)
		if changed {
			n.log.Warn("too little disk space: leaderships are handed over, and nothing new is taken on",
				"dir", now.Dir, "free bytes", now.FreeBytes, "needed bytes", now.NeededBytes)
		}
	case changed:
		d.short.Store(nil)
		clear(d.offers)
		n.log.Warn("there is enough disk space again", "dir", n.cfg.Dir, "free bytes", free)
	}
}

// handOver offers what this node leads to other members.
func (d *disk) handOver(now time.Time) {
	n := d.node
	for i, r := range n.replicas {
		o := &d.offers[i]
		if _, leads := r.leads(); !o.due(now, leads, offerPause*n.cfg.Election) {
			continue
		}
		to, ok := o.successor(n.cfg.Members, n.cfg.Node)
		if !ok {
			return // a single node has nobody
		}
		// The engine takes it as a wish; what came of it is seen from who leads.
		// It refuses while another one is pending, and then it is made again.
		_ = n.Transfer(r.group, to)
	}
}

// DiskSpace returns how much disk space was free at the last look, and an error
// that wraps diskspace.ErrShort while that is too little. It never blocks.
func (n *Node) DiskSpace() (free uint64, err error) {
	if short := n.disk.short.Load(); short != nil {
		err = short
	}
	return n.disk.free.Load(), err
}
