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

// Deployment returns the engine's deployment id: the first 8 bytes of the
// SHA-256 of the certificate, never zero.
func (c Certificate) Deployment() uint64 {
	data, err := json.Marshal(c)
	if err != nil {
		panic("identity: a certificate of plain values must encode: " + err.Error())
	}
	sum := sha256.Sum256(data)
	return max(1, binary.BigEndian.Uint64(sum[:8]))
}

// MismatchError says that a data directory was made with another value of
// something that never changes.
type MismatchError struct {
	Dir        string
	What       string
	Stored     string
	Configured string
}

// Error implements error.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("%s: %s: the directory was made with %s, the configuration has %s", e.Dir, e.What, e.Stored, e.Configured)
}

// compare returns a *MismatchError for each field that differs.
func (c Certificate) compare(dir string, configured Certificate) []error {
	var problems []error
	stored, other := reflect.ValueOf(c), reflect.ValueOf(configured)
	for i := range stored.NumField() {
		a, b := stored.Field(i).Interface(), other.Field(i).Interface()
		if reflect.DeepEqual(a, b) {
			continue
		}
		problems = append(problems, &MismatchError{dir, stored.Type().Field(i).Tag.Get("json"), fmt.Sprint(a), fmt.Sprint(b)})
	}
	return problems
}

// normal returns the certificate with its members sorted.
func (c Certificate) normal() Certificate {
	c.Members = slices.Sorted(slices.Values(c.Members))
	return c
}
