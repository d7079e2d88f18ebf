package objectfence

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/palisade-go/palisade/token"
)

// resourceName is what the names of all objects of a resource begin with. It is
// a hash, so that any resource makes a name that any store takes, none the name
// of another, and all of one length.
func resourceName(resource string) string {
	sum := sha256.Sum256([]byte(resource))
	return hex.EncodeToString(sum[:])
}

// PointerName returns the name of the resource's pointer in the Store: the
// SHA-256 of the resource in hexadecimal, and ".pointer". It never changes.
func PointerName(resource string) Name {
	return Name(resourceName(resource) + ".pointer")
}

// VersionPrefix returns what the names of the resource's versions in the Store
// begin with, and no other object's. After it come the token in 16 hexadecimal
// digits, a dot and a random number of 32. It never changes.
func VersionPrefix(resource string) Name {
	return Name(resourceName(resource) + ".version.")
}

// versionName returns a name that nobody else uses: two writers of the same
// token and content would otherwise share one, and a cleanup after the one that
// lost would take the content of the other.
func versionName(w token.Write, id string) Name {
	return VersionPrefix(w.Resource) + Name(fmt.Sprintf("%016x.%s", uint64(w.Token), id))
}

// newID returns a random number that was never used.
func newID() (string, error) {
	id := make([]byte, idBytes)
	if _, err := rand.Read(id); err != nil {
		return "", fmt.Errorf("objectfence: %w", err)
	}
	return hex.EncodeToString(id), nil
}
