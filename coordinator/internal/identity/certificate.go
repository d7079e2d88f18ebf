package identity

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/palisade-go/palisade/statemachine"
)

// Certificate is the birth certificate of a cluster. It is stored as JSON and
// hashed in that form: fields may be added at the end, with omitempty, and
// never changed.
type Certificate struct {
	Cluster string                `json:"cluster"`
	Members []statemachine.NodeID `json:"members"` // sorted
	Groups  int                   `json:"groups"`
	Slots   int                   `json:"slots"`
	Hash    string                `json:"hash"` // of keys to slots
	Epoch   uint64                `json:"epoch"`
	Engine  string                `json:"engine"` // constants of the engine that a directory is bound to
}

// Born returns the certificate as it is hashed.
func (c Certificate) Born() string {
	data, err := json.Marshal(c)
	if err != nil {
		panic("identity: a certificate of plain values must encode: " + err.Error())
	}
	return string(data)
}

// ReadBorn reads what another node says that it was born with.
func ReadBorn(born string) (Certificate, error) {
	var c Certificate
	if err := json.Unmarshal([]byte(born), &c); err != nil {
		return Certificate{}, fmt.Errorf("a birth certificate: %w", err)
	}
	return c, nil
}

// Sum returns the SHA-256 of the certificate: the name of the cluster that no
// other cluster has.
func (c Certificate) Sum() [sha256.Size]byte { return sha256.Sum256([]byte(c.Born())) }

// Deployment returns the engine's deployment id: the first 8 bytes of the
// hash, never zero.
func (c Certificate) Deployment() uint64 {
	sum := c.Sum()
	return max(1, binary.BigEndian.Uint64(sum[:8]))
}

// MismatchError says that a data directory was made with another value of
// something that never changes. It is ErrFormat if no configuration sets that.
type MismatchError struct {
	Dir        string
	What       string
	Stored     string
	Configured string
}

// Error implements error.
func (e *MismatchError) Error() string {
	whose := "the configuration"
	if e.ofVersion() {
		whose = "this version"
	}
	return fmt.Sprintf("%s: %s: the directory was made with %s, %s has %s", e.Dir, e.What, e.Stored, whose, e.Configured)
}

// Is makes errors.Is(err, ErrFormat) true of what a version of this library
// fixes.
func (e *MismatchError) Is(target error) bool { return target == ErrFormat && e.ofVersion() }

func (e *MismatchError) ofVersion() bool {
	return e.What == "slots" || e.What == "hash" || e.What == "engine"
}

// Difference is a field of two certificates that is not the same.
type Difference struct{ What, Ours, Theirs string }

// Compare returns the fields in which two certificates differ.
func (c Certificate) Compare(theirs Certificate) []Difference {
	var differences []Difference
	ours, other := reflect.ValueOf(c), reflect.ValueOf(theirs)
	for i := range ours.NumField() {
		a, b := ours.Field(i).Interface(), other.Field(i).Interface()
		if reflect.DeepEqual(a, b) {
			continue
		}
		differences = append(differences, Difference{ours.Type().Field(i).Tag.Get("json"), fmt.Sprint(a), fmt.Sprint(b)})
	}
	return differences
}

// compare returns a *MismatchError for each field that differs.
func (c Certificate) compare(dir string, configured Certificate) []error {
	var problems []error
	for _, d := range c.Compare(configured) {
		problems = append(problems, &MismatchError{dir, d.What, d.Ours, d.Theirs})
	}
	return problems
}

// normal returns the certificate with its members sorted.
func (c Certificate) normal() Certificate {
	c.Members = slices.Sorted(slices.Values(c.Members))
	return c
}
