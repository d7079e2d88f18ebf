package httpfence_test

import (
	"context"
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/httpfence"
)

func TestNewReportsEveryProblemAtOnce(t *testing.T) {
	_, err := httpfence.New(nil, httpfence.Config{
		RequestBytesMax: -1, AnswerBytesMax: 16<<20 + 1, RequestsMax: -1, WaitersMax: -1,
		BodyTimeMax: -1, WaitTimeMax: -1, HandlerTimeMax: -1,
	})
	require.ErrorIs(t, err, token.ErrInvalid)
	for _, says := range []string{
		"the store is nil", "Config.Resource is nil", "Config.RequestBytesMax is -1, not 0 to 67108864",
		"Config.AnswerBytesMax is 16777217, not 0 to 16777216", "Config.RequestsMax is -1", "Config.WaitersMax is -1",
		"Config.BodyTimeMax is -1ns", "Config.WaitTimeMax is -1ns", "Config.HandlerTimeMax is -1ns",
	} {
		require.ErrorContains(t, err, says)
	}
	resource := func(*http.Request) (string, error) { return "a", nil }
	_, err = httpfence.New(newMemory(t, httpfence.MemoryConfig{}), httpfence.Config{Resource: resource, RequestBytesMax: 64<<20 + 1})
	require.ErrorContains(t, err, "RequestBytesMax is 67108865")
	_, err = httpfence.New(newMemory(t, httpfence.MemoryConfig{}), httpfence.Config{
		Resource: resource, RequestBytesMax: 64 << 20, AnswerBytesMax: 16 << 20,
	})
	require.NoError(t, err)
}

func TestDefaults(t *testing.T) {
	require.EqualValues(t, 1<<20, httpfence.DefaultRequestBytesMax)
	require.Equal(t, 64<<10, httpfence.DefaultAnswerBytesMax)
	require.Equal(t, 256, httpfence.DefaultRequestsMax)
	require.Equal(t, 32, httpfence.DefaultWaitersMax)
	require.Equal(t, 30*time.Second, httpfence.DefaultBodyTimeMax)
	require.Equal(t, 30*time.Second, httpfence.DefaultWaitTimeMax)
	require.Equal(t, time.Minute, httpfence.DefaultHandlerTimeMax)
	cfg := httpfence.WithDefaults(httpfence.Config{})
	require.EqualValues(t, httpfence.DefaultRequestBytesMax, cfg.RequestBytesMax)
	require.Equal(t, httpfence.DefaultAnswerBytesMax, cfg.AnswerBytesMax)
	require.Equal(t, httpfence.DefaultRequestsMax, cfg.RequestsMax)
	require.Equal(t, httpfence.DefaultWaitersMax, cfg.WaitersMax)
	require.Equal(t, httpfence.DefaultBodyTimeMax, cfg.BodyTimeMax)
	require.Equal(t, httpfence.DefaultWaitTimeMax, cfg.WaitTimeMax)
	require.Equal(t, httpfence.DefaultHandlerTimeMax, cfg.HandlerTimeMax)
	require.Equal(t, httpfence.Applied, cfg.Outcome(500, nil))
	require.False(t, cfg.Idempotent(&http.Request{Method: "PUT"}))
	require.LessOrEqual(t, reflect.TypeFor[httpfence.Config]().NumField(), 15)
}

func TestAccept(t *testing.T) {
	ctx := context.Background()
	s := newService(t, httpfence.Config{})
	require.NoError(t, s.guard.Accept(ctx, token.Write{Resource: "a", Token: 5}))
	require.NoError(t, s.guard.Accept(ctx, token.Write{Resource: "a", Token: 5}))
	var stale *token.StaleError
	require.ErrorAs(t, s.guard.Accept(ctx, token.Write{Resource: "a", Token: 4}), &stale)
	require.Equal(t, token.StaleError{Resource: "a", Given: 4, Highest: 5}, *stale)
	require.ErrorIs(t, s.guard.Accept(ctx, token.Write{Resource: "a", Token: 6, Operation: "op"}), token.ErrInvalid)
	require.ErrorIs(t, s.guard.Accept(ctx, token.Write{Resource: "", Token: 6}), token.ErrInvalid)
	require.ErrorIs(t, s.guard.Accept(ctx, token.Write{Resource: "a"}), token.ErrInvalid)
	require.Equal(t, token.Token(5), s.highest("a"))
	require.Zero(t, s.highest(""), "of what can't be there nothing was accepted")
}

func TestForget(t *testing.T) {
	var handler counting
	s := serve(t, httpfence.Config{}, handler.ServeHTTP)
	ctx := context.Background()
	require.Equal(t, "run 1: POST /documents/7 ", s.do(ask{token: 5, operation: "a"}).body)
	require.NoError(t, s.guard.Forget(ctx, "/documents/7", "another"))
	require.Equal(t, "true", s.do(ask{token: 5, operation: "a"}).header.Get(httpfence.ReplayedHeader))
	require.NoError(t, s.guard.Forget(ctx, "/documents/7", "a"))
	require.NoError(t, s.guard.Forget(ctx, "/documents/7", "a"))
	s.do(ask{token: 4, operation: "a"}).isProblem(t, 412, "stale-token")
	require.Equal(t, "run 2: POST /documents/7 ", s.do(ask{token: 5, operation: "a"}).body)
	require.ErrorIs(t, s.guard.Forget(ctx, "/documents/7", ""), token.ErrInvalid)
	require.ErrorIs(t, s.guard.Forget(ctx, "", "a"), token.ErrInvalid)
	require.Equal(t, token.Token(5), s.highest("/documents/7"))
}
