package httpfence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	"github.com/palisade-go/palisade/token"
)

// GatewayConfig says what stands behind a gateway. Target is required.
type GatewayConfig struct {
	// Target is the service: http or https, a host, and a path that is put
	// before that of each request. Nothing else may reach the service, or the
	// gateway guards nothing. Required.
	Target *url.URL
	// Transport sends the requests. It must not repeat one by itself; the
	// default does not, because the gateway takes off the header that would let
	// it. Close does not end its connections. Default: one for this gateway, over
	// TCP or TLS, without a proxy.
	Transport http.RoundTripper
	// Logger takes why a request could not be sent on or answered. Default:
	// nothing is logged.
	Logger *slog.Logger
}

// Gateway is a reverse proxy with a guard, for a service that can't check a
// token by itself. It may be used concurrently.
type Gateway struct {
	handler http.Handler
	close   func()
}

// NewGateway makes a gateway. Config.HandlerTimeMax of the guard bounds how long
// a write waits for the service. The error is token.ErrInvalid, for each field
// that is wrong.
func NewGateway(guard *Guard, cfg GatewayConfig) (*Gateway, error) {
	return newGateway(guard, cfg, (*Guard).Wrap)
}

// NewGatewayOnce is NewGateway for leases that allow one write each, as
// Guard.WrapOnce.
func NewGatewayOnce(guard *Guard, cfg GatewayConfig) (*Gateway, error) {
	return newGateway(guard, cfg, (*Guard).WrapOnce)
}

func newGateway(guard *Guard, cfg GatewayConfig, wrap func(*Guard, http.Handler) http.Handler) (*Gateway, error) {
	var problems []error
	if guard == nil {
		problems = append(problems, fmt.Errorf("%w: the guard is nil", token.ErrInvalid))
	}
	if err := checkTarget(cfg.Target); err != nil {
		problems = append(problems, fmt.Errorf("%w: GatewayConfig.Target %w", token.ErrInvalid, err))
	}
	if problems != nil {
		return nil, errors.Join(problems...)
	}
	gateway := &Gateway{close: func() {}}
	if cfg.Transport == nil {
		own := newUpstreamTransport()
		cfg.Transport, gateway.close = own, own.CloseIdleConnections
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	target := *cfg.Target
	proxy := &httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { rewrite(r, &target) },
		Transport:    cfg.Transport,
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) { notAnswered(w, r, err, cfg.Logger) },
		ErrorLog:     slog.NewLogLogger(cfg.Logger.Handler(), slog.LevelError),
	}
	gateway.handler = wrap(guard, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent := &trace{}
		ctx := context.WithValue(r.Context(), traceKey{}, sent)
		proxy.ServeHTTP(w, r.WithContext(httptrace.WithClientTrace(ctx, sent.hooks())))
	}))
	return gateway, nil
}

// ServeHTTP implements http.Handler.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodConnect {
		w.Header().Set("Allow", "") // a tunnel would go around the guard
		kindInvalid.problem("the gateway makes no tunnels").ServeHTTP(w, r)
		return
	}
	g.handler.ServeHTTP(w, r)
}

// Close ends the idle connections to the service. Call it when the server has
// stopped; what is still being served ends by itself.
func (g *Gateway) Close() error {
	g.close()
	return nil
}

func checkTarget(target *url.URL) error {
	switch {
	case target == nil:
		return errors.New("is nil")
	case target.Scheme != "http" && target.Scheme != "https":
		return fmt.Errorf("has the scheme %q, not http or https", target.Scheme)
	case target.Host == "":
		return errors.New("has no host")
	case target.RawQuery != "" || target.Fragment != "" || target.User != nil:
		return errors.New("has a query, a fragment or a user")
	}
	return nil
}

// newUpstreamTransport returns what sends to the service. It reads nothing from
// the environment: a proxy there would be one more place that may repeat.
func newUpstreamTransport() *http.Transport {
	return &http.Transport{
		DialContext:         (&net.Dialer{Timeout: dialTimeMax}).DialContext,
		TLSHandshakeTimeout: dialTimeMax,
		MaxIdleConnsPerHost: idleConnectionsMax,
		IdleConnTimeout:     idleTimeMax,
		ForceAttemptHTTP2:   true,
		DisableCompression:  true, // answers pass as they are
	}
}

const (
	dialTimeMax        = 10 * time.Second
	idleTimeMax        = 30 * time.Second
	idleConnectionsMax = 32
)

// notPassed are fields that the service does not get.
var notPassed = []string{
	// net/http repeats a request that has a key when its connection breaks, on
	// the assumption that the server knows it again. This one need not.
	OperationHeader, "X-Idempotency-Key",
	// What is sent over a connection that was taken over goes around the guard.
	"Upgrade", "Connection",
	// They make a write of what the guard took for a read.
	"X-Http-Method-Override", "X-Http-Method", "X-Method-Override",
}

// rewrite makes the request for the service. Fencing-Token is passed on: it
// does no harm, and a service that learns to check it can.
func rewrite(r *httputil.ProxyRequest, target *url.URL) {
	r.SetURL(target)
	r.SetXForwarded()
	for name := range r.Out.Header {
		for _, not := range notPassed {
			// Some servers read an underscore as a hyphen.
			if strings.EqualFold(strings.ReplaceAll(name, "_", "-"), not) {
				delete(r.Out.Header, name)
			}
		}
	}
}

type traceKey struct{}

// notAnswered answers a request that the service has not. Where no connection
// was made, nothing was done. Otherwise the service may have got the request,
// and may go on with it.
func notAnswered(w http.ResponseWriter, r *http.Request, err error, logger *slog.Logger) {
	logger.Warn("the service has not answered", "method", r.Method, "path", r.URL.Path, "cause", err)
	sent, _ := r.Context().Value(traceKey{}).(*trace)
	_, isWrite := r.Context().Value(markKey{}).(*mark)
	switch {
	case sent != nil && !sent.possible():
		Mark(r.Context(), NotApplied)
		kindUnreachable.problem("no connection was made").ServeHTTP(w, r)
		return
	case !isWrite:
		kindUnreachable.problem("no answer to a request that writes nothing").ServeHTTP(w, r)
		return
	}
	Mark(r.Context(), Unknown)
	p := kindUnknown.problem("the service has not answered")
	p.Status = http.StatusBadGateway
	if errors.Is(err, context.DeadlineExceeded) {
		p.Detail, p.Status = "the service has not answered in time", http.StatusGatewayTimeout
	}
	p.ServeHTTP(w, r)
}
