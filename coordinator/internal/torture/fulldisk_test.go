package torture

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/diskspace"
)

const (
	// diskSize is the size of the file system of the node that runs out of
	// space: enough to open, and some for its data.
	diskSize = 640 << 20
	// diskShort is what is left when the node is made short.
	diskShort = 128 << 20

	ballastName = "ballast"
)

// fillDisk is a fault that can't be run everywhere.
const fillDisk kind = "fill a disk"

// diskFaults mounts a small file system as the home of the last node. Without
// the right to do so the fault is named as not run.
func (n *nemesis) diskFaults() []faultKind {
	home := n.homes[n.Nodes-1]
	said, err := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%d,mode=700", diskSize), "tmpfs", home).CombinedOutput()
	if err != nil {
		n.tally.skip(fillDisk, fmt.Sprintf("no file system can be mounted: %v: %s", err, said))
		return nil
	}
	n.mounted = home
	return []faultKind{{name: fillDisk, begin: (*nemesis).fillDisk, alone: true, restarts: true}}
}

// unmount takes the small file system away. What was on it is kept after a
// failure.
func (f *fleet) unmount(failed bool) error {
	if f.mounted == "" {
		return nil
	}
	var err error
	if failed {
		_ = os.Remove(filepath.Join(f.mounted, ballastName))
		err = os.CopyFS(f.mounted+"-kept", os.DirFS(f.mounted))
	}
	if said, failure := exec.Command("umount", f.mounted).CombinedOutput(); failure != nil {
		err = errors.Join(err, fmt.Errorf("umount %s: %w: %s", f.mounted, failure, said))
	}
	return err
}

// fillDisk takes away the disk space of a node: first so much that it is short,
// then all. It may end by that, and goes on when there is space again.
func (n *nemesis) fillDisk() (fault, error) {
	victim := n.Nodes
	p := n.running[victim]
	ballast := filepath.Join(n.homes[victim-1], ballastName)
	if err := fill(ballast, diskShort); err != nil {
		return fault{}, err
	}
	if err := n.awaitShort(p, true); err != nil {
		return fault{}, err
	}
	n.hold(n.between(0.2, 0.5))
	if err := fill(ballast, 0); err != nil {
		return fault{}, err
	}
	full := time.NewTimer(n.between(0.5, 1.5))
	defer full.Stop()
	select {
	case <-p.gone:
	case <-full.C:
	}
	return fault{heal: func() error {
		if err := os.Remove(ballast); err != nil {
			return err
		}
		err := n.awaitShort(p, false)
		if err == nil {
			return nil
		}
		dying := time.NewTimer(n.TTL)
		defer dying.Stop()
		select {
		case <-p.gone:
		case <-dying.C:
			return err // it lives, and does not notice that there is space
		}
		delete(n.running, victim)
		n.tally.ended(p)
		state, err := p.wait()
		if err != nil {
			return err
		}
		n.tally.endedByDisk()
		n.tally.event("node %d has ended by a full disk: %v", victim, state)
		return n.revive(victim)
	}}, nil
}

// awaitShort waits until a node is short of disk space, or not any more.
func (n *nemesis) awaitShort(p *process, short bool) error {
	limit := time.NewTimer(n.Limit)
	defer limit.Stop()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		if err := p.look(); err != nil {
			return err
		}
		if p.sample.DiskShort == short {
			return nil
		}
		select {
		case <-again.C:
		case <-limit.C:
			return fmt.Errorf("node %d should see within %v that it is short of disk space: %v", p.number, n.Limit, short)
		}
	}
}

// fill makes a file so long that only so many bytes are free.
func fill(name string, left uint64) error {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	piece := make([]byte, 1<<20)
	for {
		free, err := diskspace.Free(filepath.Dir(name))
		if err != nil {
			return err
		}
		if free <= left {
			return nil
		}
		_, err = file.Write(piece[:min(uint64(len(piece)), free-left)])
		switch {
		case errors.Is(err, syscall.ENOSPC), errors.Is(err, io.ErrShortWrite):
			return nil
		case err != nil:
			return err
		}
	}
}
