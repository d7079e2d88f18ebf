package httpfence

import (
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"

	"github.com/palisade-go/palisade/token"
)

// send writes the answer. t is the token under which it took effect.
func (a *Answer) send(to http.ResponseWriter, t token.Token) {
	h := to.Header()
	copyHeader(h, a.Header)
	for name := range h {
		if strings.HasPrefix(name, http.TrailerPrefix) {
			delete(h, name) // in Trailer, by its own name
		}
	}
	h.Set(TokenHeader, t.String())
	h.Del("Trailer")
	h.Del("Content-Length")
	for name := range a.Trailer {
		h.Add("Trailer", name)
	}
	if bodyAllowed(a.Status) && len(a.Trailer) == 0 {
		h.Set("Content-Length", strconv.Itoa(len(a.Body)))
	}
	to.WriteHeader(a.Status)
	if len(a.Body) > 0 {
		if _, err := to.Write(a.Body); err != nil {
			return // the client has left; whoever asks again gets it
		}
	}
	for name, values := range a.Trailer {
		h[name] = values
	}
}

// notKept are the fields that belong to one connection, one message or one
// client. A cookie is a credential: the next owner, who repeats the operation,
// must not get it.
var notKept = []string{
	"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Connection", "Proxy-Authorization", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade", "Content-Length", "Date", "Set-Cookie",
	TokenHeader, ReplayedHeader,
}

// keptHeader returns a copy of the fields that a replay has too.
func keptHeader(h http.Header) http.Header {
	kept := h.Clone()
	for _, value := range h["Connection"] {
		for _, name := range strings.Split(value, ",") {
			kept.Del(textproto.TrimString(name))
		}
	}
	for _, name := range announced(h) {
		kept.Del(name)
	}
	for name := range kept {
		if strings.HasPrefix(name, http.TrailerPrefix) {
			delete(kept, name)
		}
	}
	for _, name := range notKept {
		kept.Del(name)
	}
	return kept
}

func copyHeader(to, from http.Header) {
	for name, values := range from {
		to[name] = slices.Clone(values)
	}
}

// bodyAllowed says whether an answer of that status has a body.
func bodyAllowed(status int) bool {
	return status != http.StatusNoContent && status != http.StatusNotModified
}
