package httpfence

import (
	"net/http"
	"net/textproto"
	"slices"
	"strings"

	"github.com/palisade-go/palisade/token"
)

// recorder is the http.ResponseWriter of a handler whose answer is to be kept.
// Nothing of the answer reaches the client before it was kept, unless it grows
// beyond bytesMax: then it can't be kept, and is passed on as it comes.
//
// It has no Flush, Hijack or Unwrap: each would let the client see an answer
// that a replay can't give.
type recorder struct {
	to       *sender
	bytesMax int
	token    token.Token // of the attempt

	header http.Header // what the handler sees
	status int         // zero until the header is written
	sealed http.Header // header at that moment
	body   []byte
	// passed says that the answer is passed on: header and body have gone to to.
	passed bool
}

func newRecorder(to *sender, bytesMax int, t token.Token) *recorder {
	return &recorder{to: to, bytesMax: bytesMax, token: t, header: make(http.Header)}
}

// Header implements http.ResponseWriter.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter. Informational statuses are
// dropped: the answer is sent when it is whole.
func (r *recorder) WriteHeader(status int) {
	if r.status != 0 || 100 <= status && status < 200 {
		return
	}
	r.status, r.sealed = status, r.header.Clone()
}

// Write implements http.ResponseWriter.
func (r *recorder) Write(p []byte) (int, error) {
	if r.status == 0 {
		r.WriteHeader(http.StatusOK)
	}
	if !bodyAllowed(r.status) {
		return 0, http.ErrBodyNotAllowed
	}
	if !r.passed && len(r.body)+len(p) <= r.bytesMax {
		r.body = append(r.body, p...)
		return len(p), nil
	}
	if !r.passed {
		r.passed = true
		r.sealed.Set(TokenHeader, r.token.String())
		copyHeader(r.to.Header(), r.sealed)
		r.to.WriteHeader(r.status)
		if _, err := r.to.Write(r.body); err != nil {
			return 0, err
		}
		r.body = nil
	}
	return r.to.Write(p)
}

// finish returns the answer. The handler has returned.
func (r *recorder) finish() *Answer {
	if r.status == 0 {
		r.WriteHeader(http.StatusOK)
	}
	return &Answer{Status: r.status, Header: r.sealed, Trailer: r.trailer(), Body: r.body}
}

// kept returns what is to be kept of the answer: all that belongs to no single
// client, or the status alone if that is too large.
func (r *recorder) kept(answer *Answer) *Answer {
	kept := *answer
	kept.Header = keptHeader(answer.Header)
	if r.passed || kept.Bytes() > int64(r.bytesMax) {
		return &Answer{Status: answer.Status, Omitted: true}
	}
	return &kept
}

// reply returns what sends the answer; nil if it was passed on.
func (r *recorder) reply(answer *Answer) http.Handler {
	if r.passed {
		for name, values := range answer.Trailer {
			r.to.Header()[http.TrailerPrefix+name] = values
		}
		return nil
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer.send(w, r.token) })
}

// trailer returns the trailer fields: those that were announced, and those with
// http.TrailerPrefix.
func (r *recorder) trailer() http.Header {
	var trailer http.Header
	keep := func(name string, values []string) {
		if trailer == nil {
			trailer = make(http.Header)
		}
		trailer[name] = slices.Clone(values)
	}
	for _, name := range announced(r.sealed) {
		if values, set := r.header[name]; set {
			keep(name, values)
		}
	}
	for name, values := range r.header {
		if name, prefixed := strings.CutPrefix(name, http.TrailerPrefix); prefixed {
			keep(http.CanonicalHeaderKey(name), values)
		}
	}
	return trailer
}

// announced returns the names that a Trailer header lists.
func announced(h http.Header) []string {
	var names []string
	for _, value := range h["Trailer"] {
		for _, name := range strings.Split(value, ",") {
			names = append(names, http.CanonicalHeaderKey(textproto.TrimString(name)))
		}
	}
	return names
}
