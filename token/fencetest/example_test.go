package fencetest_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/fencetest"
)

// memory is a token.Guard with the lists that it guards, in the memory of this
// process.
type memory struct {
	guard token.Guard
	mu    sync.Mutex
	lists map[string][]string
}

// Append is Do of a token.Guard.
func (m *memory) Append(ctx context.Context, w token.Write, entry string) (token.Receipt, error) {
	return m.write(ctx, m.guard.Do, w, entry)
}

// AppendOnce is DoOnce of a token.Guard.
func (m *memory) AppendOnce(ctx context.Context, w token.Write, entry string) (token.Receipt, error) {
	return m.write(ctx, m.guard.DoOnce, w, entry)
}

// write looks at the context and the names first, which a token.Guard does not.
func (m *memory) write(
	ctx context.Context, do func(string, token.Token, func() error) error, w token.Write, entry string,
) (token.Receipt, error) {
	if err := errors.Join(ctx.Err(), w.Check()); err != nil {
		return token.Receipt{}, err
	}
	receipt := token.Receipt{Token: w.Token}
	err := do(w.Resource, w.Token, func() error {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.lists[w.Resource] = append(m.lists[w.Resource], entry)
		receipt.Value = strconv.AppendInt(nil, int64(len(m.lists[w.Resource])), 10)
		if strings.HasPrefix(entry, "fail") {
			return errors.New("this entry was to fail")
		}
		return nil
	})
	return receipt, err
}

// Accept is Accept of a token.Guard.
func (m *memory) Accept(ctx context.Context, w token.Write) error {
	if err := errors.Join(ctx.Err(), w.Check()); err != nil {
		return err
	}
	return m.guard.Accept(w.Resource, w.Token)
}

// Highest is Highest of a token.Guard.
func (m *memory) Highest(_ context.Context, resource string) (token.Token, error) {
	return m.guard.Highest(resource), nil
}

// Entries reads a list, around the guard.
func (m *memory) Entries(_ context.Context, resource string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.lists[resource]), nil
}

// A test of a guard hands an adapter to Run. That of token.Guard is the rest of
// this file: it remembers no operations and can't take a write back.
func ExampleRun() {
	// func TestGuard(t *testing.T)
	_ = func(t *testing.T) {
		traits := fencetest.Traits{NoOperations: true, KeepsFenceOfFailedWrite: true}
		fencetest.Run(t, traits, func(*testing.T) fencetest.Guard {
			return &memory{lists: make(map[string][]string)}
		})
	}
}
