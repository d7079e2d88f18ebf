package httpfence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"

	"github.com/palisade-go/palisade/token"
)

// Lease is what a Transport needs of a lease. A *coordinator.Lease has it.
type Lease interface {
	// Token is the fencing token.
	Token() token.Token
	// Err is nil while the lease is owned, and says why not afterwards.
	Err() error
	// Context ends when the lease ends.
	Context() context.Context
}

// Transport is an http.RoundTripper for requests that are made under a lease.
// It adds the token to each, and to those that write something the operation id
// of their context. It sends nothing once the lease has ended, and a request
// ends when the lease does, and so does the reading of its answer.
//
// A request is refused with token.ErrInvalid, and not sent, if it has a
// Fencing-Token header already, or an Idempotency-Key header besides the
// operation of its context; if token or operation are none; and if it follows
// a redirect to another scheme, host or port: there the token would mean
// nothing, and without it the write would go unchecked.
//
// An error of a request that may have reached the server is token.ErrUnknown
// too, joined with the cause, unless its method is safe. Refusals of the guard
// are answers and no errors: see Error.
type Transport struct {
	// Base sends the requests. Default: http.DefaultTransport.
	Base http.RoundTripper
	// Lease is the lease. Required.
	Lease Lease
}

type operationKey struct{}

// WithOperation returns a context whose requests, sent by a Transport, are
// attempts at the operation. Requests with a safe method are none: they don't
// carry the id.
func WithOperation(ctx context.Context, operation token.Operation) context.Context {
	return context.WithValue(ctx, operationKey{}, operation)
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	out, err := t.prepare(req)
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // a RoundTripper closes it whatever happens
		}
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(req.Context())
	lease := t.Lease.Context()
	stop := context.AfterFunc(lease, func() {
		cancel(fmt.Errorf("httpfence: the lease has ended: %w", context.Cause(lease)))
	})
	end := func() {
		stop()
		cancel(nil)
	}
	var sent trace
	out = out.WithContext(httptrace.WithClientTrace(ctx, sent.hooks()))
	base := t.Base
	if base == nil {
		base = http.DefaultTransport
	}
	resp, err := base.RoundTrip(out)
	if err != nil {
		err = withCause(ctx, err)
		end()
		if sent.possible() && !safeMethod(req) {
			err = fmt.Errorf("%w: %w", token.ErrUnknown, err)
		}
		return nil, err
	}
	resp.Request = req
	resp.Body = &leaseBody{ReadCloser: resp.Body, ctx: ctx, end: end}
	return resp, nil
}

// prepare returns a copy of the request with the headers added.
func (t *Transport) prepare(req *http.Request) (*http.Request, error) {
	if t.Lease == nil {
		return nil, fmt.Errorf("%w: a transport without a lease", token.ErrInvalid)
	}
	if err := t.Lease.Err(); err != nil {
		return nil, fmt.Errorf("httpfence: nothing was sent: %w", err)
	}
	if ctx := req.Context(); ctx.Err() != nil {
		return nil, withCause(ctx, fmt.Errorf("httpfence: nothing was sent: %w", ctx.Err()))
	}
	if err := sameOrigin(req); err != nil {
		return nil, err
	}
	if n := len(req.Header.Values(TokenHeader)); n > 0 {
		return nil, fmt.Errorf("%w: the request has a header %s already", token.ErrInvalid, TokenHeader)
	}
	operation, named := req.Context().Value(operationKey{}).(token.Operation)
	named = named && !safeMethod(req)
	// The resource is the server's to name. What it is called here is not sent.
	w := token.Write{Resource: "resource", Token: t.Lease.Token(), Operation: operation}
	if err := w.Check(); err != nil {
		return nil, err
	}
	out := req.Clone(req.Context())
	if out.Header == nil {
		out.Header = make(http.Header)
	}
	out.Header.Set(TokenHeader, w.Token.String())
	if named {
		if operation == "" {
			return nil, fmt.Errorf("%w: empty operation id", token.ErrInvalid)
		}
		if len(req.Header.Values(OperationHeader)) > 0 {
			return nil, fmt.Errorf("%w: the request has a header %s, and its context an operation",
				token.ErrInvalid, OperationHeader)
		}
		out.Header.Set(OperationHeader, formatOperation(operation))
	}
	return out, nil
}

// sameOrigin refuses what follows a redirect away from where the first request
// of the chain was sent.
func sameOrigin(req *http.Request) error {
	first := req
	for first.Response != nil && first.Response.Request != nil {
		first = first.Response.Request
	}
	if first.URL.Scheme != req.URL.Scheme || first.URL.Host != req.URL.Host {
		return fmt.Errorf("%w: redirected from %s://%s to %s://%s, where the token means nothing",
			token.ErrInvalid, first.URL.Scheme, first.URL.Host, req.URL.Scheme, req.URL.Host)
	}
	return nil
}

// trace finds out whether a request may have reached the server.
type trace struct{ asked, got atomic.Bool }

func (t *trace) hooks() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GetConn: func(string) { t.asked.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { t.got.Store(true) },
	}
}

// possible is false only if a connection was looked for and none was found. A
// RoundTripper that has no such hooks may have sent anything.
func (t *trace) possible() bool { return t.got.Load() || !t.asked.Load() }

// withCause adds why ctx has ended, if it has.
func withCause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w: %w", cause, err)
	}
	return err
}

// leaseBody is the body of an answer. Its reading ends with the lease.
type leaseBody struct {
	io.ReadCloser
	ctx context.Context
	end func() // may be called again
}

// Read implements io.Reader.
func (b *leaseBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = withCause(b.ctx, err)
	}
	return n, err
}

// Close implements io.Closer.
func (b *leaseBody) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}
