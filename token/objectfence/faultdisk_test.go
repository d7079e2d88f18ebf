package objectfence

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"sync"
)

var errDisk = errors.New("the disk is gone")

// faultDisk is a disk that does something at its n-th step: fail, or end the
// process.
type faultDisk struct {
	disk
	mu    sync.Mutex
	n     int      // 0: never
	after bool     // once the step has had its effect, not before
	then  func()   // nil: the step fails
	trace []string // what was done
	hit   bool
}

// step does one step of the disk.
func (d *faultDisk) step(what string, do func() error) error {
	d.mu.Lock()
	d.trace = append(d.trace, what)
	now := len(d.trace) == d.n
	d.hit = d.hit || now
	d.mu.Unlock()
	if now && !d.after {
		return d.fault()
	}
	if err := do(); err != nil {
		return err
	}
	if now {
		return d.fault()
	}
	return nil
}

func (d *faultDisk) fault() error {
	if d.then != nil {
		d.then()
	}
	return errDisk
}

func (d *faultDisk) lock() (unlock func() error, locked bool, err error) {
	err = d.step("lock", func() (err error) {
		unlock, locked, err = d.disk.lock()
		return err
	})
	if err != nil {
		if locked {
			err = errors.Join(err, unlock())
		}
		return nil, false, err
	}
	if !locked {
		return nil, false, nil
	}
	giveBack := unlock // the result's name is the new function's from here on
	return func() error {
		// Whatever happens, the lock is given back: the test needs it.
		return errors.Join(d.step("unlock", func() error { return nil }), giveBack())
	}, true, nil
}

func (d *faultDisk) read(name string) (body []byte, err error) {
	err = d.step("read "+name, func() (err error) {
		body, err = d.disk.read(name)
		return err
	})
	return body, err
}

func (d *faultDisk) create(name string) error {
	return d.step("create "+name, func() error { return d.disk.create(name) })
}

func (d *faultDisk) write(name string, body []byte) error {
	return d.step("write "+name, func() error { return d.disk.write(name, body) })
}

func (d *faultDisk) sync(name string) error {
	return d.step("sync "+name, func() error { return d.disk.sync(name) })
}

func (d *faultDisk) rename(from, to string) error {
	return d.step("rename "+from+" "+to, func() error { return d.disk.rename(from, to) })
}

func (d *faultDisk) syncNames() error { return d.step("sync names", d.disk.syncNames) }

func (d *faultDisk) remove(name string) error {
	return d.step("remove "+name, func() error { return d.disk.remove(name) })
}

// powerDisk is a disk in memory that can lose its power. Then every name is
// what it was at the last syncNames, and every content that was not synced is
// gone: the worst that a file system may do.
type powerDisk struct {
	seen, kept map[string]*file
	locked     bool
}

type file struct {
	body   []byte
	synced bool
}

func newPowerDisk() *powerDisk {
	return &powerDisk{seen: make(map[string]*file), kept: make(map[string]*file)}
}

// crash returns the disk after the power is back.
func (d *powerDisk) crash() *powerDisk {
	after := newPowerDisk()
	for name, f := range d.kept {
		left := &file{synced: true}
		if f.synced {
			left.body = f.body
		}
		after.seen[name], after.kept[name] = left, left
	}
	return after
}

func (d *powerDisk) lock() (func() error, bool, error) {
	if d.locked {
		return nil, false, nil
	}
	d.locked = true
	return func() error { d.locked = false; return nil }, true, nil
}

func (d *powerDisk) read(name string) ([]byte, error) {
	f := d.seen[name]
	if f == nil {
		return nil, fs.ErrNotExist
	}
	return bytes.Clone(f.body), nil
}

func (d *powerDisk) create(name string) error {
	d.seen[name] = &file{}
	return nil
}

func (d *powerDisk) write(name string, body []byte) error {
	d.seen[name].body, d.seen[name].synced = bytes.Clone(body), false
	return nil
}

func (d *powerDisk) sync(name string) error {
	d.seen[name].synced = true
	return nil
}

func (d *powerDisk) rename(from, to string) error {
	d.seen[to] = d.seen[from]
	delete(d.seen, from)
	return nil
}

func (d *powerDisk) syncNames() error {
	d.kept = maps.Clone(d.seen)
	return nil
}

func (d *powerDisk) remove(name string) error {
	delete(d.seen, name)
	return nil
}

func (d *powerDisk) list() ([]string, error) {
	return slices.Collect(maps.Keys(d.seen)), nil
}
