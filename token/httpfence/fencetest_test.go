package httpfence_test

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
	"github.com/palisade-go/palisade/token/fencetest"
	"github.com/palisade-go/palisade/token/httpfence"
	"github.com/palisade-go/palisade/token/httpfence/diskstore"
)

// lists is a service that checks nothing: it adds entries to lists. What is
// repeated and what is once is not its business, so the entry comes in a header,
// which is no part of a request's fingerprint.
type lists struct {
	mu    sync.Mutex
	lists map[string][]string
}

const (
	entryHeader = "Test-Entry"
	onceHeader  = "Test-Once"
)

func resourceOf(r *http.Request) (string, error) { return r.URL.Query().Get("list"), nil }

func (l *lists) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
	l.lists[resource] = append(l.lists[resource], entry)
	if strings.HasPrefix(entry, "fail") {
		http.Error(w, "it was told to fail", http.StatusInternalServerError)
		return
	}
	fmt.Fprint(w, len(l.lists[resource]))
}

// guardedLists is the client's side: each call goes over TCP.
type guardedLists struct {
	lists  *lists
	store  httpfence.Store
	guard  *httpfence.Guard
	server *httptest.Server
	client http.RoundTripper
}

func serveLists(t *testing.T, store httpfence.Store, service *lists) *guardedLists {
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
	return &guardedLists{lists: service, store: store, guard: guard, server: server, client: server.Client().Transport}
}

// leaseOf is a lease that lasts.
type leaseOf token.Token

func (l leaseOf) Token() token.Token     { return token.Token(l) }
func (leaseOf) Err() error               { return nil }
func (leaseOf) Context() context.Context { return context.Background() }

func (g *guardedLists) request(ctx context.Context, method string, w token.Write) (*http.Request, error) {
	return http.NewRequestWithContext(ctx, method, g.server.URL+"/?list="+url.QueryEscape(w.Resource), nil)
}

func (g *guardedLists) Append(ctx context.Context, w token.Write, entry string) (token.Receipt, error) {
	return g.append(ctx, w, entry, nil)
}

func (g *guardedLists) AppendOnce(ctx context.Context, w token.Write, entry string) (token.Receipt, error) {
	return g.append(ctx, w, entry, http.Header{onceHeader: {"1"}})
}

func (g *guardedLists) append(ctx context.Context, w token.Write, entry string, header http.Header) (token.Receipt, error) {
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

func (g *guardedLists) send(req *http.Request, w token.Write) (token.Receipt, error) {
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
func (g *guardedLists) Accept(ctx context.Context, w token.Write) error {
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

func (g *guardedLists) Highest(ctx context.Context, resource string) (token.Token, error) {
	return g.guard.Highest(ctx, resource)
}

func (g *guardedLists) Entries(_ context.Context, resource string) ([]string, error) {
	g.lists.mu.Lock()
	defer g.lists.mu.Unlock()
	return slices.Clone(g.lists.lists[resource]), nil
}

// steps keeps the random parts short: each step is a request, on disk with two
// syncs.
const steps = 300

func TestMiddlewareOnMemoryKeepsTheRules(t *testing.T) {
	traits := fencetest.Traits{KeepsFenceOfFailedWrite: true, Steps: 2 * steps}
	fencetest.Run(t, traits, func(t *testing.T) fencetest.Guard {
		store := newMemory(t, httpfence.MemoryConfig{OperationsMax: 10_000})
		return serveLists(t, store, &lists{lists: map[string][]string{}})
	})
}

func TestMiddlewareOnDiskKeepsTheRulesAlsoAfterARestart(t *testing.T) {
	dirs := map[fencetest.Guard]string{}
	open := func(t *testing.T, dir string, service *lists) fencetest.Guard {
		store, err := diskstore.Open(dir, diskstore.Config{OperationsMax: 10_000})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, store.Close()) })
		g := serveLists(t, store, service)
		dirs[g] = dir
		return g
	}
	traits := fencetest.Traits{
		KeepsFenceOfFailedWrite: true, Steps: steps,
		Reopen: func(t *testing.T, g fencetest.Guard) fencetest.Guard {
			before := g.(*guardedLists)
			before.server.Close()
			require.NoError(t, before.store.(*diskstore.Store).Close())
			return open(t, dirs[g], before.lists)
		},
	}
	fencetest.Run(t, traits, func(t *testing.T) fencetest.Guard {
		return open(t, t.TempDir(), &lists{lists: map[string][]string{}})
	})
}
