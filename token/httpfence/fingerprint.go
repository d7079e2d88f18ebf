package httpfence

import (
	"crypto/sha256"
	"encoding/binary"
	"net/http"
)

// Fingerprint tells whether two requests are the same: the SHA-256 of method,
// path, query and body. Header fields are not in it: a retry may come by
// another way and with other credentials.
type Fingerprint [sha256.Size]byte

// fingerprintOf computes the fingerprint. Each part comes after its length, so
// that no two requests give the hash the same bytes. Part of what is stored;
// it never changes.
func fingerprintOf(r *http.Request, body []byte) Fingerprint {
	hash := sha256.New()
	for _, part := range [][]byte{
		[]byte(r.Method), []byte(r.URL.EscapedPath()), []byte(r.URL.RawQuery), body,
	} {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		hash.Write(length[:])
		hash.Write(part)
	}
	return Fingerprint(hash.Sum(nil))
}
