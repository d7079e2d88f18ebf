package fencetest

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/palisade-go/palisade/token"
)

// memory is a token.Guard with its lists: a guard that can't take back what a
// failed write did.
type memory struct {
	guard token.Guard
	mu    sync.Mutex
	lists map[string][]string
}

func newMemory(*testing.T) Guard { return &memory{lists: make(map[string][]string)} }

func (m *memory) Append(ctx context.Context, w token.Write, entry string) (token.Receipt, error) {
	return m.write(ctx, m.guard.Do, w, entry)
}

func (m *memory) AppendOnce(ctx context.Context, w token.Write, entry string) (token.Receipt, error) {
	return m.write(ctx, m.guard.DoOnce, w, entry)
}

// do is one of the two methods of a token.Guard that write.
type do func(resource string, t token.Token, write func() error) error

// write asks the context and the names first, as a token.Guard does not.
func (m *memory) write(ctx context.Context, do do, w token.Write, entry string) (token.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return token.Receipt{}, err
	}
	if err := w.Check(); err != nil {
		return token.Receipt{}, err
	}
	receipt := token.Receipt{Token: w.Token}
	err := do(w.Resource, w.Token, func() error {
		receipt.Value = []byte(strconv.Itoa(m.add(w.Resource, entry)))
		return failing(entry)
	})
	if err != nil {
		return token.Receipt{}, err
	}
	return receipt, nil
}

func (m *memory) add(resource, entry string) (length int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lists[resource] = append(m.lists[resource], entry)
	return len(m.lists[resource])
}

func (m *memory) Accept(ctx context.Context, w token.Write) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := w.Check(); err != nil {
		return err
	}
	return m.guard.Accept(w.Resource, w.Token)
}

func (m *memory) Highest(_ context.Context, resource string) (token.Token, error) {
	return m.guard.Highest(resource), nil
}

func (m *memory) Entries(_ context.Context, resource string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.lists[resource]), nil
}

func TestTokenGuardKeepsTheRules(t *testing.T) {
	Run(t, Traits{NoOperations: true, KeepsFenceOfFailedWrite: true}, newMemory)
}
