package objectfence

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

func newGuard(t testing.TB, store Store) *Guard {
	t.Helper()
	g, err := New(Config{Store: store})
	require.NoError(t, err)
	return g
}

// put returns a change that makes body the content, and returns a value.
func put(body string) func(context.Context, []byte) (Update, error) {
	return func(context.Context, []byte) (Update, error) {
		return Update{Body: []byte(body), Value: []byte("wrote " + body)}, nil
	}
}

// nothing is a change that must not be asked for.
func nothing(t *testing.T) func(context.Context, []byte) (Update, error) {
	return func(context.Context, []byte) (Update, error) {
		t.Error("the change was called")
		return Update{}, nil
	}
}

func contentOf(t *testing.T, g *Guard, resource string) string {
	t.Helper()
	content, err := g.Current(context.Background(), resource)
	require.NoError(t, err)
	return string(content.Body)
}

// notes is a list of entries, one a line, for each resource, as fencetest wants
// it.
type notes struct {
	*Guard
	reopen func() Store
}

func (n notes) Append(ctx context.Context, w token.Write, entry string) (token.Receipt, error) {
	return n.Do(ctx, w, add(entry))
}

func (n notes) AppendOnce(ctx context.Context, w token.Write, entry string) (token.Receipt, error) {
	return n.DoOnce(ctx, w, add(entry))
}

func add(entry string) func(context.Context, []byte) (Update, error) {
	return func(_ context.Context, old []byte) (Update, error) {
		list := append(lines(old), entry)
		if strings.HasPrefix(entry, "fail") {
			return Update{}, errors.New(entry)
		}
		return Update{Body: []byte(strings.Join(list, "\n")), Value: []byte(strconv.Itoa(len(list)))}, nil
	}
}

func (n notes) Entries(ctx context.Context, resource string) ([]string, error) {
	content, err := n.Current(ctx, resource)
	return lines(content.Body), err
}

func lines(body []byte) []string {
	if len(body) == 0 {
		return nil
	}
	return strings.Split(string(body), "\n")
}
