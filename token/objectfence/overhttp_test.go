package objectfence

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

// TestAGuardOverHTTP: each fault at the PUT that moves the pointer.
func TestAGuardOverHTTP(t *testing.T) {
	ctx := context.Background()
	w := token.Write{Resource: "r", Token: 5, Operation: "o"}
	for name, fault := range map[string]func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc){
		"WhoseAnswerIsLostAfterTheEffect": func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
			require.Equal(t, 200, afterIts(serve, r))
			cut(w, "")
		},
		"WhoseAnswerIsLostBeforeTheEffect": func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) { cut(w, "") },
		"WhoseServerFailsAfterTheEffect": func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
			require.Equal(t, 200, afterIts(serve, r))
			w.WriteHeader(500)
		},
		"WhoseServerFailsBeforeTheEffect": status(500),
		"WhoseProxyAsksTwice": func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
			body, err := io.ReadAll(r.Body)
			require.NoError(t, err)
			for _, want := range []int{200, 412} {
				again := httptest.NewRequest(r.Method, r.URL.String(), strings.NewReader(string(body)))
				again.Header = r.Header
				require.Equal(t, want, afterIts(serve, again))
			}
			w.WriteHeader(412)
		},
		"WhoseServerIsInConflict": status(409),
	} {
		t.Run(name+"WritesOnce", func(t *testing.T) {
			server, store := newServer(t)
			g := newGuard(t, store)
			for n, add := range []string{"first", "second"} {
				server.once(fault)
				w := w
				w.Operation += token.Operation(add)
				receipt, err := g.Do(ctx, w, func(_ context.Context, old []byte) (Update, error) {
					return Update{Body: append(old, add...), Value: []byte(add)}, nil
				})
				require.NoError(t, err, n)
				require.Equal(t, token.Receipt{Token: 5, Value: []byte(add)}, receipt)
			}
			require.Equal(t, "firstsecond", contentOf(t, g, "r"))
		})
	}
	t.Run("WhoseServerIsGoneIsUnknown", func(t *testing.T) {
		server, store := newServer(t)
		server.once(func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
			require.Equal(t, 200, afterIts(serve, r))
			server.set(status(503))
			cut(w, "")
		})
		_, err := newGuard(t, store).Do(ctx, w, put("new"))
		require.ErrorIs(t, err, token.ErrUnknown)
		server.set(nil)
		receipt, err := newGuard(t, store).Do(ctx, w, nothing(t))
		require.NoError(t, err)
		require.True(t, receipt.Repeated)
	})
	t.Run("WhoseServerRefusesIsRefused", func(t *testing.T) {
		server, store := newServer(t)
		server.once(status(403))
		_, err := newGuard(t, store).Do(ctx, w, put("new"))
		require.ErrorIs(t, err, ErrRefused)
		require.NotErrorIs(t, err, token.ErrUnknown)
	})
}
