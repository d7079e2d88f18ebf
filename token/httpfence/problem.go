package httpfence

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/palisade-go/palisade/token"
)

var (
	// ErrUnavailable says that the guard could not let the request through:
	// too many wait, its store does not answer, or the service behind a gateway
	// could not be reached. Nothing was done; the same request may be sent again.
	ErrUnavailable = errors.New("httpfence: unavailable")
	// ErrReused says that an operation id came again with another method, path,
	// query or body. Nothing was done now. It is found together with
	// token.ErrInvalid.
	ErrReused = fmt.Errorf("%w: operation id of another request", token.ErrInvalid)
	// ErrNotKept says that the operation took effect before, and that its answer
	// was too large to be kept. Problem.Original has the status of that answer.
	ErrNotKept = errors.New("httpfence: done before, the answer was not kept")
	// ErrNoGuard says that an answer does not have the mark of a guard: whatever
	// answered, a service without one or a cache on the way, has not checked
	// the token.
	ErrNoGuard = errors.New("httpfence: not answered by a guard")
)

// ProblemBase begins the types of all problems: the page that describes them.
// It never changes.
const ProblemBase = "https://github.com/palisade-go/palisade/blob/main/docs/fencing/http.md#"

// A kind is what all problems of one type have in common. The names are part
// of the protocol; they never change.
type kind struct {
	name    string
	status  int
	title   string
	outcome Outcome
	err     error
	// retry says that the client does well to wait for a moment and to ask
	// again.
	retry bool
}

var (
	kindInvalid = kind{"invalid-request", http.StatusBadRequest,
		"The request can't be checked", NotApplied, token.ErrInvalid, false}
	kindMissingToken = kind{"missing-token", http.StatusPreconditionRequired,
		"The request has no fencing token", NotApplied, token.ErrInvalid, false}
	kindMissingOperation = kind{"missing-operation", http.StatusBadRequest,
		"The request has no operation id", NotApplied, token.ErrInvalid, false}
	kindStale = kind{"stale-token", http.StatusPreconditionFailed,
		"A later owner has been here", NotApplied, token.ErrStale, false}
	kindReused = kind{"operation-reused", http.StatusUnprocessableEntity,
		"The operation id belongs to another request", NotApplied, ErrReused, false}
	kindTooLarge = kind{"body-too-large", http.StatusRequestEntityTooLarge,
		"The body is too large", NotApplied, token.ErrInvalid, false}
	kindSlow = kind{"body-too-slow", http.StatusRequestTimeout,
		"The body did not come in time", NotApplied, ErrUnavailable, false}
	kindBusy = kind{"busy", http.StatusServiceUnavailable,
		"Too many requests wait for the resource", NotApplied, ErrUnavailable, true}
	kindStore = kind{"store-unavailable", http.StatusServiceUnavailable,
		"The guard can't read or write what it keeps", NotApplied, ErrUnavailable, true}
	kindUnreachable = kind{"upstream-unreachable", http.StatusBadGateway,
		"The service could not be reached", NotApplied, ErrUnavailable, true}
	kindUnknown = kind{"outcome-unknown", http.StatusConflict,
		"Whether the operation took effect is not known", Unknown, token.ErrUnknown, false}
	kindNotKept = kind{"answer-not-kept", http.StatusConflict,
		"The operation took effect, its answer was not kept", Applied, ErrNotKept, false}
)

var kinds = []kind{
	kindInvalid, kindMissingToken, kindMissingOperation, kindStale, kindReused, kindTooLarge, kindSlow, kindBusy,
	kindStore, kindUnreachable, kindUnknown, kindNotKept,
}

// Problem is a guard's answer that is not the handler's: a problem document of
// RFC 9457. As an error it is found with errors.As, and in it, with errors.Is,
// what it means: token.ErrStale (also as a *token.StaleError), token.ErrInvalid,
// token.ErrUnknown, ErrUnavailable, ErrReused or ErrNotKept.
type Problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
	// Outcome is what is known of the operation, or of the request if it named
	// none.
	Outcome Outcome `json:"outcome"`
	// Resource is what the guard calls that which the request would write.
	Resource string `json:"resource,omitempty"`
	// Given and Highest are those of a token.StaleError.
	Given   token.Token `json:"given,omitempty"`
	Highest token.Token `json:"highest,omitempty"`
	// Original is the status of the answer that was not kept.
	Original int `json:"original,omitempty"`

	kind kind
}

// problem makes a problem of a kind. The detail is shown to the client.
func (k kind) problem(format string, args ...any) *Problem {
	return &Problem{
		Type: ProblemBase + k.name, Title: k.title, Status: k.status, Outcome: k.outcome,
		Detail: fmt.Sprintf(format, args...), kind: k,
	}
}

// staleProblem tells of a refusal.
func staleProblem(stale *token.StaleError) *Problem {
	p := kindStale.problem("%v", stale)
	p.Resource, p.Given, p.Highest = stale.Resource, stale.Given, stale.Highest
	return p
}

// Error says what the problem is.
func (p *Problem) Error() string {
	text := fmt.Sprintf("httpfence: %s (%d, %s)", strings.ToLower(p.Title), p.Status, p.Outcome)
	if p.Detail != "" {
		text += ": " + p.Detail
	}
	return text
}

// Unwrap returns what the problem means, by its type.
func (p *Problem) Unwrap() error {
	if p.kind.name == kindStale.name {
		return &token.StaleError{Resource: p.Resource, Given: p.Given, Highest: p.Highest}
	}
	return p.kind.err
}

// retryAfter is what a client is asked to wait when it may ask again.
const retryAfter = time.Second

// ServeHTTP answers with the problem.
func (p *Problem) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	body, err := json.Marshal(p)
	if err != nil { // a Problem that was made by hand, with a value that is no token
		http.Error(w, "httpfence: a problem that can't be told", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", problemType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	if p.kind.retry {
		h.Set("Retry-After", strconv.Itoa(int(retryAfter/time.Second)))
	}
	w.WriteHeader(p.Status)
	_, _ = w.Write(body) // whoever does not read it asks again
}

// problemType is the media type of RFC 9457.
const problemType = "application/problem+json"
