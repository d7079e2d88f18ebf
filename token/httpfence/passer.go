package httpfence

import (
	"net/http"

	"github.com/palisade-go/palisade/token"
)

// passer is the http.ResponseWriter of a guarded handler whose answer is not
// kept. It has no Unwrap, and so no Hijack: a connection that was taken over
// could write after its turn.
type passer struct {
	to    *sender
	token token.Token
	wrote bool
}

// Header implements http.ResponseWriter.
func (p *passer) Header() http.Header { return p.to.Header() }

// WriteHeader marks the answer with the token.
func (p *passer) WriteHeader(status int) {
	p.wrote = p.wrote || status >= 200
	p.Header().Set(TokenHeader, p.token.String())
	p.to.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (p *passer) Write(b []byte) (int, error) {
	p.begin()
	return p.to.Write(b)
}

// FlushError sends what was written so far.
func (p *passer) FlushError() error {
	p.begin()
	return p.to.flush()
}

// Flush is FlushError for handlers that ask for an http.Flusher.
func (p *passer) Flush() { _ = p.FlushError() }

// begin writes the header of a handler that has not.
func (p *passer) begin() {
	if !p.wrote {
		p.WriteHeader(http.StatusOK)
	}
}
