package objectfence

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProbe(t *testing.T) {
	ctx := context.Background()
	t.Run("AgreesToAServerThatCompares", func(t *testing.T) {
		server, store := newServer(t)
		for range 3 {
			require.NoError(t, Probe(ctx, store))
		}
		require.Len(t, server.objects, 1)
		require.Contains(t, server.objects, string(ProbeName))
		require.NoError(t, Probe(ctx, openFiles(t, t.TempDir())))
	})
	for _, header := range []string{"If-Match", "If-None-Match"} {
		t.Run("FindsAServerThatIgnores"+header, func(t *testing.T) {
			server, store := newServer(t)
			server.ignores = []string{header}
			for range 2 {
				require.ErrorIs(t, Probe(ctx, store), ErrDoesNotCompare)
			}
		})
	}
	t.Run("FindsAServerWhoseETagIsOfTheName", func(t *testing.T) {
		server, store := newServer(t)
		server.set(func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
			recorder := httptest.NewRecorder()
			serve(recorder, r)
			if r.Header.Get("If-Match") == `"name"` {
				recorder.Code = 200
			}
			w.Header().Set("ETag", `"name"`)
			w.WriteHeader(recorder.Code)
			_, _ = w.Write(recorder.Body.Bytes())
		})
		require.ErrorIs(t, Probe(ctx, store), ErrDoesNotCompare)
	})
	t.Run("TakesNoOtherErrorForAnAnswer", func(t *testing.T) {
		for _, code := range []int{403, 500} {
			server, store := newServer(t)
			server.set(status(code))
			err := Probe(ctx, store)
			var answer *StatusError
			require.ErrorAs(t, err, &answer)
			require.NotErrorIs(t, err, ErrDoesNotCompare)
			server.set(func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
				if r.Header.Get("If-Match") != "" {
					w.WriteHeader(code)
					return
				}
				serve(w, r)
			})
			err = Probe(ctx, store)
			require.ErrorAs(t, err, &answer)
			require.NotErrorIs(t, err, ErrDoesNotCompare)
		}
	})
	t.Run("MayRunManyTimesAtOnce", func(t *testing.T) {
		_, store := newServer(t)
		ended := make(chan error)
		for range 8 {
			go func() { ended <- Probe(ctx, store) }()
		}
		var all error
		for range 8 {
			all = errors.Join(all, <-ended)
		}
		require.NoError(t, all)
	})
}
