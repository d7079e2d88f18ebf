package httpfence

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/palisade-go/palisade/token"
)

// Defaults of Config.
const (
	DefaultRequestBytesMax = 1 << 20
	DefaultAnswerBytesMax  = 64 << 10
	DefaultRequestsMax     = 256
	DefaultWaitersMax      = 32
	DefaultBodyTimeMax     = 30 * time.Second
	DefaultWaitTimeMax     = 30 * time.Second
	DefaultHandlerTimeMax  = time.Minute
)

// Limits of Config.
const (
	// RequestBytesLimit is the greatest Config.RequestBytesMax.
	RequestBytesLimit = 64 << 20
	// AnswerBytesLimit is the greatest Config.AnswerBytesMax.
	AnswerBytesLimit = 16 << 20
)

// Config says how a Guard works. Resource is required. The zero value of any
// other field is its default, and there is no other magic value.
type Config struct {
	// Resource names what a request would write: the name that belongs to one
	// lock key, for ever. Two requests that can write the same thing must get
	// the same name; ByPath makes such a function for paths. It is called before
	// the body is read, and must not read it. An error, or a name that
	// token.Write.Check refuses, refuses the request: a path that needs no guard
	// is to be routed around it. Required.
	Resource func(*http.Request) (string, error)
	// Safe says that a request writes nothing. Such a request passes, unless it
	// has a token, which is accepted then before the request passes. Give one of
	// your own if something is written by GET. Default: GET, HEAD, OPTIONS and
	// TRACE are safe.
	Safe func(*http.Request) bool
	// Idempotent says that running a request twice is as good as once, as a PUT
	// of a whole document. An operation that was begun and whose end is not
	// known is then run again, if its token is not stale; otherwise it is
	// answered with "outcome-unknown". Default: no request is.
	Idempotent func(*http.Request) bool
	// Outcome says what an answer of the handler means for its operation, where
	// the handler has not called Mark. Give one if some answer says for sure
	// that nothing was done and that the same operation may be tried again, as
	// 429 of a service that counts requests first. Default: all answers are
	// Applied, failures too: they are kept and given again.
	Outcome func(status int, header http.Header) Outcome
	// OperationRequired refuses writes without an operation id. Default: they
	// are run, and nothing can be told about them later.
	OperationRequired bool
	// Logger takes the causes of failures of the store, which clients are not
	// told. Default: nothing is logged.
	Logger *slog.Logger

	// RequestBytesMax is the length of the longest body. Bodies are held in
	// memory, RequestsMax of them at most. To RequestBytesLimit. Default: 1 MiB.
	RequestBytesMax int64
	// AnswerBytesMax is the length of the longest answer of an operation, body
	// and header fields, that is kept. A longer one is passed on, and a replay
	// says "answer-not-kept". It is paid in the store for each operation
	// remembered. To AnswerBytesLimit. Default: 64 KiB.
	AnswerBytesMax int
	// RequestsMax is how many guarded requests may be inside at a time. With so
	// many, others get 503 at once. Default: 256.
	RequestsMax int
	// WaitersMax is how many requests may wait for one resource. With so many,
	// others get 503 at once. Default: 32.
	WaitersMax int
	// BodyTimeMax is how long a client may take to send its body. Default: 30 s.
	BodyTimeMax time.Duration
	// WaitTimeMax is how long a request may wait for its turn before it gets
	// 503. Default: 30 s.
	WaitTimeMax time.Duration
	// HandlerTimeMax is how long a handler may run before its context ends. It
	// is the only thing that ends it: the client's leaving does not. A handler
	// that goes on all the same keeps its turn. Default: 1 minute.
	HandlerTimeMax time.Duration
}

func (c Config) withDefaults() Config {
	if c.Safe == nil {
		c.Safe = safeMethod
	}
	if c.Idempotent == nil {
		c.Idempotent = func(*http.Request) bool { return false }
	}
	if c.Outcome == nil {
		c.Outcome = func(int, http.Header) Outcome { return Applied }
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	def(&c.RequestBytesMax, DefaultRequestBytesMax)
	def(&c.AnswerBytesMax, DefaultAnswerBytesMax)
	def(&c.RequestsMax, DefaultRequestsMax)
	def(&c.WaitersMax, DefaultWaitersMax)
	def(&c.BodyTimeMax, DefaultBodyTimeMax)
	def(&c.WaitTimeMax, DefaultWaitTimeMax)
	def(&c.HandlerTimeMax, DefaultHandlerTimeMax)
	return c
}

func def[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// safeMethods are the safe methods of RFC 9110. Methods are case-sensitive, and
// one that is not known is guarded.
var safeMethods = []string{http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace}

func safeMethod(r *http.Request) bool { return slices.Contains(safeMethods, r.Method) }

// check reports every problem at once, by field.
func (c Config) check() error {
	var problems []error
	report := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("%w: Config."+format, append([]any{token.ErrInvalid}, args...)...))
	}
	if c.Resource == nil {
		report("Resource is nil")
	}
	if c.RequestBytesMax < 0 || c.RequestBytesMax > RequestBytesLimit {
		report("RequestBytesMax is %d, not 0 to %d", c.RequestBytesMax, RequestBytesLimit)
	}
	if c.AnswerBytesMax < 0 || c.AnswerBytesMax > AnswerBytesLimit {
		report("AnswerBytesMax is %d, not 0 to %d", c.AnswerBytesMax, AnswerBytesLimit)
	}
	for _, f := range []struct {
		name  string
		value int
	}{{"RequestsMax", c.RequestsMax}, {"WaitersMax", c.WaitersMax}} {
		if f.value < 0 {
			report("%s is %d, below 0", f.name, f.value)
		}
	}
	for _, f := range []struct {
		name  string
		value time.Duration
	}{{"BodyTimeMax", c.BodyTimeMax}, {"WaitTimeMax", c.WaitTimeMax}, {"HandlerTimeMax", c.HandlerTimeMax}} {
		if f.value < 0 {
			report("%s is %v, below 0", f.name, f.value)
		}
	}
	return errors.Join(problems...)
}
