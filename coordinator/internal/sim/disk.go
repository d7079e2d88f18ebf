package sim

import (
	"hash/fnv"
	"maps"
	"slices"

	"github.com/palisade-go/palisade/statemachine"
)

// disk has the image of one replica: what was synced, and what a crash of the
// process loses.
type disk struct {
	synced   map[string][]byte
	unsynced []statemachine.Record
}

// commit writes what the machine has changed.
func (d *disk) commit(changed []statemachine.Record) { d.unsynced = append(d.unsynced, changed...) }

// sync makes what was committed last.
func (d *disk) sync() {
	for _, r := range d.unsynced {
		if r.Value == nil {
			delete(d.synced, string(r.Key))
		} else {
			d.synced[string(r.Key)] = r.Value
		}
	}
	d.unsynced = nil
}

// crash loses what was not synced.
func (d *disk) crash() { d.unsynced = nil }

// replace makes the image that of a machine.
func (d *disk) replace(m *statemachine.Machine) {
	d.synced, d.unsynced = map[string][]byte{}, nil
	for key, value := range m.Records() {
		d.synced[string(key)] = value
	}
}

// load returns the machine of the image that was synced.
func (d *disk) load(g statemachine.Genesis) (*statemachine.Machine, error) {
	return statemachine.Load(g, func(yield func(key, value []byte) bool) {
		for _, key := range slices.Sorted(maps.Keys(d.synced)) {
			if !yield([]byte(key), d.synced[key]) {
				return
			}
		}
	})
}

// digest is the sum over an image's records of a hash of each. It follows the
// changes of an entry at their cost, and so can be compared at every index.
type digest struct {
	records map[string]uint64
	sum     uint64
}

// digestOf looks at a whole image.
func digestOf(m *statemachine.Machine) *digest {
	d := &digest{records: map[string]uint64{}}
	for key, value := range m.Records() {
		d.note(statemachine.Record{Key: key, Value: value})
	}
	return d
}

// note takes one changed record.
func (d *digest) note(r statemachine.Record) {
	d.sum -= d.records[string(r.Key)]
	if r.Value == nil {
		delete(d.records, string(r.Key))
		return
	}
	h := fnv.New64a()
	_, _ = h.Write(r.Key) // a hash never fails
	_, _ = h.Write([]byte{0})
	_, _ = h.Write(r.Value)
	d.records[string(r.Key)] = h.Sum64()
	d.sum += h.Sum64()
}
