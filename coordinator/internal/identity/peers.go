package identity

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"sync"

	"github.com/palisade-go/palisade/statemachine"
)

// Acquaintance is a start of another member, as it introduced itself.
type Acquaintance struct {
	Directory   statemachine.DirectoryID
	Incarnation statemachine.Incarnation
	Start       StartID
}

// Peers is what a directory remembers of the other members. What it has
// confirmed is on disk, synced. It is safe for concurrent use.
type Peers struct {
	dir string

	// writing is held while the file is replaced, and taken before mu. What
	// only looks does not wait for the disk.
	writing sync.Mutex
	closed  bool // guarded by writing: the directory may be another node's now

	mu       sync.Mutex
	admitted bool
	met      map[statemachine.NodeID]Acquaintance
}

// peersFile is the file of Peers. It is made before the stores are, and
// replaced as a whole.
const peersFile = "peers.json"

// storedPeers is the content of peers.json.
type storedPeers struct {
	Admitted bool                                  `json:"admitted"`
	Met      map[statemachine.NodeID]storedMeeting `json:"met"`
}

type storedMeeting struct {
	Directory   string                   `json:"directory"`
	Incarnation statemachine.Incarnation `json:"incarnation"`
	Start       string                   `json:"start"`
}

// openPeers reads the file, or makes that of a new directory. One that has
// stores but forgot whom it met could let a member start over unseen.
func openPeers(dir string) (*Peers, error) {
	p := &Peers{dir: dir, met: map[statemachine.NodeID]Acquaintance{}}
	path := filepath.Join(dir, peersFile)
	data, err := readBounded(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := mayLack(dir, peersFile, incarnationFile, MachinesDir, RaftDir); err != nil {
			return nil, err
		}
		return p, p.write(false, p.met)
	}
	if err != nil {
		return nil, err
	}
	var s storedPeers
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, path, err)
	}
	if s.Met == nil {
		return nil, fmt.Errorf("%w: %s: it has no list of those met", ErrDamaged, path)
	}
	for node, m := range s.Met {
		a := Acquaintance{Incarnation: m.Incarnation}
		if err := errors.Join(readID(m.Directory, a.Directory[:]), readID(m.Start, a.Start[:])); err != nil {
			return nil, fmt.Errorf("%w: %s: node %d: %w", ErrDamaged, path, node, err)
		}
		p.met[node] = a
	}
	p.admitted = s.Admitted
	return p, nil
}

// readID reads an id in hexadecimal, of exactly the length of to.
func readID(text string, to []byte) error {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != len(to) {
		return fmt.Errorf("%q is not an id of %d bytes", text, len(to))
	}
	copy(to, raw)
	return nil
}

// ErrClosed: the directory was closed, so nothing can be noted any more.
var ErrClosed = errors.New("the directory is closed")

// close makes everything that would write fail from now on. It waits for who
// writes.
func (p *Peers) close() {
	p.writing.Lock()
	defer p.writing.Unlock()
	p.closed = true
}

// write replaces the file.
func (p *Peers) write(admitted bool, met map[statemachine.NodeID]Acquaintance) error {
	s := storedPeers{Admitted: admitted, Met: map[statemachine.NodeID]storedMeeting{}}
	for node, a := range met {
		s.Met[node] = storedMeeting{a.Directory.String(), a.Incarnation, hex.EncodeToString(a.Start[:])}
	}
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the peers: %w", err)
	}
	return writeSynced(p.dir, peersFile, append(data, '\n'))
}

// Admitted reports whether every peer has once let this directory in.
func (p *Peers) Admitted() bool {
	admitted, _ := p.now()
	return admitted
}

// Admit notes that every peer has let this directory in. On failure nothing
// has changed that a restart would see.
func (p *Peers) Admit() error {
	p.writing.Lock()
	defer p.writing.Unlock()
	admitted, met := p.now()
	if admitted {
		return nil
	}
	return p.replace(true, met)
}

// Met returns the newest start of a member that was met.
func (p *Peers) Met(node statemachine.NodeID) (Acquaintance, bool) {
	_, met := p.now()
	a, known := met[node]
	return a, known
}

// Meet notes a member's newest start. Whether it may follow the one that was
// noted before is for the caller to judge, in judge, which is called with
// that one; one that changes something is alone meanwhile. On failure, which may be
// judge's, nothing has changed.
func (p *Peers) Meet(node statemachine.NodeID, a Acquaintance, judge func(before Acquaintance, known bool) error) error {
	if before, known := p.Met(node); known && before == a {
		return judge(before, known) // nothing to write, so no wait for who writes
	}
	p.writing.Lock()
	defer p.writing.Unlock()
	admitted, met := p.now()
	before, known := met[node]
	if err := judge(before, known); err != nil {
		return err
	}
	met = maps.Clone(met)
	met[node] = a
	return p.replace(admitted, met)
}

// now returns what is noted. The map is never changed, only replaced.
func (p *Peers) now() (bool, map[statemachine.NodeID]Acquaintance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.admitted, p.met
}

// replace writes the file and then takes what it says. writing is held.
func (p *Peers) replace(admitted bool, met map[statemachine.NodeID]Acquaintance) error {
	if p.closed {
		return ErrClosed
	}
	if err := p.write(admitted, met); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.admitted, p.met = admitted, met
	return nil
}
