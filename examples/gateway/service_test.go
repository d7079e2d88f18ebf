package main

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestServiceChecksNothing(t *testing.T) {
	s, err := startService()
	require.NoError(t, err)
	defer func() { require.NoError(t, s.stop()) }()
	client := &http.Transport{}
	defer client.CloseIdleConnections()
	for _, r := range []request{
		{method: "PUT", text: "a"}, {method: "POST", text: "b"}, {method: "POST", text: "b"}, {method: "GET"},
	} {
		req, err := r.to(context.Background(), s.url)
		require.NoError(t, err)
		resp, err := client.RoundTrip(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
	}
	require.Equal(t, "a\nb\nb", s.text())
	require.NoError(t, s.stop(), "a second time is no error")
}
