package identity

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/palisade-go/palisade/statemachine"
)

// Format is the version of the data directory's layout.
const Format = 1

// Errors of Open. A *MismatchError is another one.
var (
	// ErrInUse: another node, of this process or another, has it open.
	ErrInUse = errors.New("the directory is in use")
	// ErrFormat: made by another version of this library, in a way that this
	// one does not go on with.
	ErrFormat = errors.New("the directory has another format")
	// ErrDamaged: a file of it is missing or can't be read.
	ErrDamaged = errors.New("the directory is damaged")
)

const (
	identityFile    = "identity.json"
	incarnationFile = "incarnation"
	lockFile        = "LOCK"
	// MachinesDir and RaftDir are where the node's stores live.
	MachinesDir = "machines"
	RaftDir     = "raft"
)

// Identity is an open data directory. It stays locked until Close.
type Identity struct {
	Dir         string
	Node        statemachine.NodeID
	Directory   statemachine.DirectoryID
	Incarnation statemachine.Incarnation
	Certificate Certificate
	// Start is the random id of this start. A copy of the directory may have
	// the same incarnation, but never the same start.
	Start StartID
	// Peers is what is remembered of the other members.
	Peers *Peers
	lock  *os.File
}

// StartID is the random id of one start of a node.
type StartID [16]byte

// stored is the content of identity.json.
type stored struct {
	Format      int                 `json:"format"`
	Node        statemachine.NodeID `json:"node"`
	Directory   string              `json:"directory"`
	Certificate Certificate         `json:"certificate"`
}

// Open locks the directory, makes it if it is missing or empty, compares it
// with the configuration, and raises the incarnation. On failure nothing of
// an existing directory has changed, except that the incarnation may have
// been raised.
func Open(dir string, node statemachine.NodeID, configured Certificate) (*Identity, error) {
	if err := makeDir(filepath.Clean(dir)); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	lock, err := lockDir(dir)
	if err != nil {
		return nil, err
	}
	if err := checkAccess(dir); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	id, err := open(dir, node, configured.normal())
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	id.lock = lock
	return id, nil
}

// makeDir makes a directory and those above it that are missing, each with a
// name that survives a crash: without it everything in the directory is lost,
// however well it was synced.
func makeDir(dir string) error {
	parent := filepath.Dir(dir)
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) || parent == dir {
		return os.MkdirAll(dir, 0o700) // it is there, or the error says what is wrong
	}
	if err := makeDir(parent); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(parent)
}

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func open(dir string, node statemachine.NodeID, configured Certificate) (*Identity, error) {
	s, err := read(dir)
	if errors.Is(err, fs.ErrNotExist) {
		s, err = create(dir, node, configured)
	}
	if err != nil {
		return nil, err
	}
	var problems []error
	if s.Node != node {
		problems = append(problems, &MismatchError{dir, "node", fmt.Sprint(s.Node), fmt.Sprint(node)})
	}
	if problems = append(problems, s.Certificate.compare(dir, configured)...); len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	id := &Identity{Dir: dir, Node: node, Certificate: s.Certificate}
	if err := readID(s.Directory, id.Directory[:]); err != nil {
		return nil, fmt.Errorf("%w: %s: directory: %w", ErrDamaged, filepath.Join(dir, identityFile), err)
	}
	if _, err := rand.Read(id.Start[:]); err != nil {
		return nil, fmt.Errorf("start id: %w", err)
	}
	if id.Peers, err = openPeers(dir); err != nil {
		return nil, err
	}
	id.Incarnation, err = raise(dir)
	return id, err
}

func read(dir string) (stored, error) {
	path := filepath.Join(dir, identityFile)
	data, err := readBounded(path)
	if err != nil {
		return stored{}, err
	}
	var s stored
	if err := json.Unmarshal(data, &s); err != nil {
		return stored{}, fmt.Errorf("%w: %s: %w", ErrDamaged, path, err)
	}
	if s.Format > Format {
		return stored{}, fmt.Errorf("%w: %s is of format %d, this version reads up to %d", ErrFormat, dir, s.Format, Format)
	}
	if s.Format != Format {
		return stored{}, fmt.Errorf("%w: %s: format %d", ErrDamaged, path, s.Format)
	}
	return s, nil
}

// fileBytesMax is far above what any file here can have.
const fileBytesMax = 64 << 10

// readBounded reads a small file of the directory, whole or not at all.
func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(f, fileBytesMax+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	if len(data) > fileBytesMax {
		return nil, fmt.Errorf("%w: %s has more than %d bytes", ErrDamaged, path, fileBytesMax)
	}
	return data, nil
}

// mayLack returns an error unless the directory is too young to have a file:
// it has none of those that are made after it.
func mayLack(dir, missing string, later ...string) error {
	for _, name := range later {
		switch _, err := os.Lstat(filepath.Join(dir, name)); {
		case err == nil:
			return fmt.Errorf("%w: %s has %s but no %s", ErrDamaged, dir, name, missing)
		case !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("data directory: %w", err)
		}
	}
	return nil
}

// create writes the identity of a new directory. A directory that has stores
// but no identity has lost it: founding it anew would vote twice.
func create(dir string, node statemachine.NodeID, configured Certificate) (stored, error) {
	if err := mayLack(dir, identityFile, incarnationFile, peersFile, MachinesDir, RaftDir); err != nil {
		return stored{}, err
	}
	var raw statemachine.DirectoryID
	if _, err := rand.Read(raw[:]); err != nil {
		return stored{}, fmt.Errorf("directory id: %w", err)
	}
	s := stored{Format: Format, Node: node, Directory: raw.String(), Certificate: configured}
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return stored{}, fmt.Errorf("encoding the identity: %w", err)
	}
	return s, writeSynced(dir, identityFile, append(data, '\n'))
}

// raise counts this start and returns its number.
func raise(dir string) (statemachine.Incarnation, error) {
	path := filepath.Join(dir, incarnationFile)
	last := uint64(0)
	data, err := readBounded(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// Stores without an incarnation: it was lost, and counting from 1
		// again would reuse lease ids.
		if err := mayLack(dir, incarnationFile, MachinesDir, RaftDir); err != nil {
			return 0, err
		}
	case err != nil:
		return 0, err
	default:
		if last, err = strconv.ParseUint(strings.TrimSpace(string(data)), 10, 63); err != nil {
			return 0, fmt.Errorf("%w: %s: %w", ErrDamaged, path, err)
		}
	}
	next := last + 1
	return statemachine.Incarnation(next), writeSynced(dir, incarnationFile, []byte(strconv.FormatUint(next, 10)+"\n"))
}

// writeSynced replaces a file as one step that survives a crash.
func writeSynced(dir, name string, data []byte) error {
	path := filepath.Join(dir, name)
	if err := replaceFile(path+".new", path, data); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err := syncDir(dir); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// replaceFile writes and syncs temp, then renames it to path.
func replaceFile(temp, path string, data []byte) error {
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

// HostID returns the engine's name for a member: a UUID (version 5) of the
// cluster's name and the node id, so that addresses are no part of it.
func HostID(cluster string, node statemachine.NodeID) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, fmt.Appendf(nil, "palisade:%s:%d", cluster, node)).String()
}

// Close unlocks the directory. Nothing is written to it any more.
func (id *Identity) Close() error {
	id.Peers.close()
	return id.lock.Close()
}
