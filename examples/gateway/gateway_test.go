package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/palisade-go/palisade/token/httpfence"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// readmeOutput returns what the README says that the program prints.
func readmeOutput(t *testing.T) string {
	t.Helper()
	const begin, end = "<!-- output of examples/gateway -->\n\n```text\n", "```\n"
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(readme), begin)
	require.True(t, found, "README.md has no block after %q", begin)
	output, _, found := strings.Cut(rest, end)
	require.True(t, found, "README.md does not end its block with %q", end)
	return output
}

func TestStoryIsTheOneInTheREADME(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var out bytes.Buffer
	err := run(context.Background(), &out, openGateway)
	require.NoError(t, err, "told so far:\n%s", &out)
	require.Equal(t, readmeOutput(t), out.String())
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	require.NoError(t, err)
	require.Empty(t, left, "its files are removed")
}

// toldBefore returns the README's output before a sentence.
func toldBefore(t *testing.T, sentence string) string {
	t.Helper()
	before, _, found := strings.Cut(readmeOutput(t), "   "+sentence)
	require.True(t, found, sentence)
	return before
}

// TestGatewayWithoutAGuardIsFoundOut: one that marks its answers, and lets
// everything through.
func TestGatewayWithoutAGuardIsFoundOut(t *testing.T) {
	open := func(target *url.URL, _ string) (http.Handler, io.Closer, error) {
		proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
		transport := &http.Transport{}
		proxy.Transport = transport
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set(httpfence.TokenHeader, r.Header.Get(httpfence.TokenHeader))
			proxy.ServeHTTP(w, r)
		}), closing(transport.CloseIdleConnections), nil
	}
	var out bytes.Buffer
	err := run(context.Background(), &out, open)
	require.ErrorContains(t, err, "was accepted")
	require.Equal(t, toldBefore(t, "Ada's write arrives: 412"), out.String(), "what is told before the fault, and nothing of it")
}

type closing func()

func (c closing) Close() error {
	c()
	return nil
}

// TestGatewayThatForgetsIsFoundOut: one whose memory ends with its process.
func TestGatewayThatForgetsIsFoundOut(t *testing.T) {
	open := func(target *url.URL, _ string) (http.Handler, io.Closer, error) {
		store, err := httpfence.NewMemory(httpfence.MemoryConfig{})
		if err != nil {
			return nil, nil, err
		}
		gateway, err := newGateway(target, store)
		return gateway, gateway, err
	}
	var out bytes.Buffer
	err := run(context.Background(), &out, open)
	require.ErrorContains(t, err, "was accepted")
	require.Equal(t, toldBefore(t, "A proxy on the way"), out.String())
}

func TestContextEndsTheStory(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out bytes.Buffer
	require.ErrorIs(t, run(ctx, &out, openGateway), context.Canceled)
	require.Empty(t, out.String())
}
