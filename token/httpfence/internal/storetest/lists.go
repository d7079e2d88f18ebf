package storetest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/httpfence"
)

// Lists is a service that checks nothing: it adds entries to lists. What is
// repeated and what is once is not its business, so the entry comes in a header,
// which is no part of a request's fingerprint. The zero value is ready for use.
type Lists struct {
	mu    sync.Mutex
	lists map[string][]string
}

const (
	entryHeader = "Test-Entry"
	onceHeader  = "Test-Once"
)

func resourceOf(r *http.Request) (string, error) { return r.URL.Query().Get("list"), nil }

// ServeHTTP adds the entry of a write, and fails after that if it is to.
func (l *Lists) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	resource, _ := resourceOf(r)
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.Method == http.MethodGet {
		return
	}
	entry, err := url.QueryUnescape(r.Header.Get(entryHeader))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if l.lists == nil {
		l.lists = make(map[string][]string)
	}
	l.lists[resource] = append(l.lists[resource], entry)
	if strings.HasPrefix(entry, "fail") {
		http.Error(w, "it was told to fail", http.StatusInternalServerError)
		return
	}
	fmt.Fprint(w, len(l.lists[resource]))
}

// GuardedLists are lists behind a guard, as their client has them: a
// fencetest.Guard each call of which goes over TCP.
type GuardedLists struct {
	lists  *Lists
	guard  *httpfence.Guard
	server *httptest.Server
	client http.RoundTripper
}

// Serve starts the service behind a guard with that store, until Stop or the end
// of the test.
func Serve(t *testing.T, store httpfence.Store, service *Lists) *GuardedLists {
	t.Helper()
	guard, err := httpfence.New(store, httpfence.Config{Resource: resourceOf, WaitersMax: 1000, RequestsMax: 1000})
	require.NoError(t, err)
	many, once := guard.Wrap(service), guard.WrapOnce(service)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(onceHeader) != "" {
			once.ServeHTTP(w, r)
			return
		}
		many.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return &GuardedLists{lists: service, guard: guard, server: server, client: server.Client().Transport}
}

// Stop ends the server and returns the service.
func (g *GuardedLists) Stop() *Lists {
	g.server.Close()
	return g.lists
}

// leaseOf is a lease that lasts.
type leaseOf token.Token

// Token implements httpfence.Lease.
func (l leaseOf) Token() token.Token     { return token.Token(l) }
func (leaseOf) Err() error               { return nil }
func (leaseOf) Context() context.Context { return context.Background() }

func (g *GuardedLists) request(ctx context.Context, method string, w token.Write) (*http.Request, error) {
	return http.NewRequestWithContext(ctx, method, g.server.URL+"/?list="+url.QueryEscape(w.Resource), nil)
}

// Append implements fencetest.Guard.
func (g *GuardedLists) Append(ctx context.Context, w token.Write, entry string) (token.Receipt, error) {
	return g.append(ctx, w, entry, nil)
}

// AppendOnce implements fencetest.Guard.
func (g *GuardedLists) AppendOnce(ctx context.Context, w token.Write, entry string) (token.Receipt, error) {
	return g.append(ctx, w, entry, http.Header{onceHeader: {"1"}})
}

func (g *GuardedLists) append(ctx context.Context, w token.Write, entry string, header http.Header) (token.Receipt, error) {
	if w.Operation != "" {
		ctx = httpfence.WithOperation(ctx, w.Operation)
	}
	req, err := g.request(ctx, http.MethodPost, w)
	if err != nil {
		return token.Receipt{}, err
	}
	for name, values := range header {
		req.Header[name] = values
	}
	req.Header.Set(entryHeader, url.QueryEscape(entry))
	return g.send(req, w)
}

func (g *GuardedLists) send(req *http.Request, w token.Write) (token.Receipt, error) {
	client := http.Client{Transport: &httpfence.Transport{Base: g.client, Lease: leaseOf(w.Token)}}
	resp, err := client.Do(req)
	if err != nil {
		return token.Receipt{}, err
	}
	defer resp.Body.Close()
	if err := httpfence.Error(resp); err != nil {
		return token.Receipt{}, err
	}
	receipt, err := httpfence.ReceiptOf(resp)
	if err != nil {
		return token.Receipt{}, err
	}
	if receipt.Value, err = io.ReadAll(resp.Body); err != nil {
		return token.Receipt{}, err
	}
	if resp.StatusCode != http.StatusOK {
		return token.Receipt{}, fmt.Errorf("%s: %s", resp.Status, bytes.TrimSpace(receipt.Value))
	}
	return receipt, nil
}

// Accept is a read with the token: it reaches no further than the list.
func (g *GuardedLists) Accept(ctx context.Context, w token.Write) error {
	req, err := g.request(ctx, http.MethodGet, w)
	if err != nil {
		return err
	}
	if w.Operation != "" {
		req.Header.Set(httpfence.OperationHeader, strconv.Quote(string(w.Operation)))
	}
	_, err = g.send(req, w)
	return err
}

// Highest implements fencetest.Guard.
func (g *GuardedLists) Highest(ctx context.Context, resource string) (token.Token, error) {
	return g.guard.Highest(ctx, resource)
}

// Entries implements fencetest.Guard.
func (g *GuardedLists) Entries(_ context.Context, resource string) ([]string, error) {
	g.lists.mu.Lock()
	defer g.lists.mu.Unlock()
	return slices.Clone(g.lists.lists[resource]), nil
}
