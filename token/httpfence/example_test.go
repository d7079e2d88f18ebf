package httpfence_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"

	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/httpfence"
)

// held is a lease that lasts. In a program it is a *coordinator.Lease.
type held token.Token

func (h held) Token() token.Token       { return token.Token(h) }
func (h held) Err() error               { return nil }
func (h held) Context() context.Context { return context.Background() }

// A service checks its requests, and its clients send the tokens of their
// leases.
func Example() {
	store, err := httpfence.NewMemory(httpfence.MemoryConfig{}) // a service has a diskstore
	if err != nil {
		log.Fatal(err)
	}
	resource, err := httpfence.ByPath("/documents/")
	if err != nil {
		log.Fatal(err)
	}
	guard, err := httpfence.New(store, httpfence.Config{Resource: resource})
	if err != nil {
		log.Fatal(err)
	}
	document := ""
	server := httptest.NewServer(guard.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		line, _ := io.ReadAll(r.Body)
		document += string(line) + ";"
		fmt.Fprint(w, document)
	})))
	defer server.Close()

	add := func(lease httpfence.Lease, operation token.Operation, line string) {
		ctx := httpfence.WithOperation(context.Background(), operation)
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/documents/7", strings.NewReader(line))
		if err != nil {
			log.Fatal(err)
		}
		client := &http.Client{Transport: &httpfence.Transport{Lease: lease}}
		resp, err := client.Do(req)
		if err != nil {
			log.Fatal(err)
		}
		defer resp.Body.Close()
		var stale *token.StaleError
		if err := httpfence.Error(resp); errors.As(err, &stale) {
			fmt.Println("stale:", stale.Given, "after", stale.Highest)
			return
		} else if err != nil {
			log.Fatal(err)
		}
		receipt, err := httpfence.ReceiptOf(resp)
		if err != nil {
			log.Fatal(err)
		}
		text, _ := io.ReadAll(resp.Body)
		fmt.Printf("token %s, repeated %v: %s\n", receipt.Token, receipt.Repeated, text)
	}
	add(held(33), "monday", "one")
	add(held(34), "tuesday", "two")
	add(held(33), "wednesday", "three") // a late owner, with something new
	add(held(34), "tuesday", "two")     // the owner, again
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	// Output:
	// token 33, repeated false: one;
	// token 34, repeated false: one;two;
	// stale: 33 after 34
	// token 34, repeated true: one;two;
}

// A gateway stands before a service that can't check.
func ExampleNewGateway() {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "the service was asked to ", r.Method, " ", r.URL.Path)
	}))
	defer service.Close()
	target, err := url.Parse(service.URL)
	if err != nil {
		log.Fatal(err)
	}
	store, err := httpfence.NewMemory(httpfence.MemoryConfig{}) // a gateway has a diskstore
	if err != nil {
		log.Fatal(err)
	}
	resource, err := httpfence.ByPath("/documents/")
	if err != nil {
		log.Fatal(err)
	}
	guard, err := httpfence.New(store, httpfence.Config{Resource: resource})
	if err != nil {
		log.Fatal(err)
	}
	gateway, err := httpfence.NewGateway(guard, httpfence.GatewayConfig{Target: target})
	if err != nil {
		log.Fatal(err)
	}
	defer gateway.Close()

	for _, fencing := range []string{"34", "33", ""} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodDelete, "/documents/7", nil)
		if fencing != "" {
			r.Header.Set(httpfence.TokenHeader, fencing)
		}
		gateway.ServeHTTP(w, r)
		fmt.Println(w.Code, strings.TrimSpace(w.Header().Get("Content-Type")))
	}
	// Output:
	// 200 text/plain; charset=utf-8
	// 412 application/problem+json
	// 428 application/problem+json
}

// A handler that knows that nothing was done says so, and the same operation may
// be tried again.
func ExampleMark() {
	handler := func(w http.ResponseWriter, r *http.Request) {
		if noPaper {
			httpfence.Mark(r.Context(), httpfence.NotApplied)
			http.Error(w, "no paper", http.StatusServiceUnavailable)
		}
	}
	_ = handler
}

var noPaper = true
