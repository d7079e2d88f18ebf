package main

import (
	"sync"

	"github.com/palisade-go/palisade/token"
)

// documentKey is the key of the lock that protects the document.
const documentKey = "report"

// fence runs a write of a resource, or refuses it because of its token. Here
// it is the Do of a token.Guard. In a service it stands where the data is: a
// condition of an UPDATE, a header that the receiver compares.
type fence func(resource string, t token.Token, write func() error) error

// document is what the lock protects: a text that is written as a whole, by
// one job at a time. It trusts no job to know whether it still owns the lock.
// It looks at the token.
type document struct {
	guard fence

	mu   sync.Mutex
	text string
}

// write replaces the text. A token that is lower than one seen before is
// refused with token.ErrStale, and the text stays what it is.
func (d *document) write(t token.Token, text string) error {
	return d.guard("document", t, func() error {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.text = text
		return nil
	})
}

// read returns the text.
func (d *document) read() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text
}
