package drivertest

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/sqlfence"
)

// task is what a child is told on its standard input, before that is closed as
// the sign to begin.
type task struct {
	DSN    string
	Tokens []token.Token
}

// parts are what the test binary does as another process.
var parts = map[string]func() error{
	"write": childWrites,
	"hold":  childHolds,
}

// child is another process of a test.
type child struct {
	*exec.Cmd
	input  io.WriteCloser
	output *json.Decoder
}

// startChild starts a process that has read its task and waits for the sign.
func startChild(t *testing.T, part string, what task) child {
	t.Helper()
	binary, err := os.Executable()
	require.NoError(t, err)
	c := child{Cmd: exec.Command(binary)}
	c.Env = append(os.Environ(), childVariable+"="+part)
	c.Stderr = os.Stderr
	c.input, err = c.StdinPipe()
	require.NoError(t, err)
	output, err := c.StdoutPipe()
	require.NoError(t, err)
	c.output = json.NewDecoder(output)
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	require.NoError(t, json.NewEncoder(c.input).Encode(what))
	c.hears(t, "ready")
	return c
}

// hears waits for a word of the child.
func (c child) hears(t *testing.T, want string) {
	t.Helper()
	var word string
	require.NoError(t, c.output.Decode(&word))
	require.Equal(t, want, word)
}

func say(word any) error { return json.NewEncoder(os.Stdout).Encode(word) }

// begun opens what the task names, once the sign has come.
func begun() (resource, task, error) {
	var what task
	input := json.NewDecoder(os.Stdin)
	if err := input.Decode(&what); err != nil {
		return resource{}, what, err
	}
	if err := say("ready"); err != nil {
		return resource{}, what, err
	}
	if err := input.Decode(new(any)); !errors.Is(err, io.EOF) {
		return resource{}, what, fmt.Errorf("no end of the input: %w", err)
	}
	db, err := sql.Open("sqlite", what.DSN)
	if err != nil {
		return resource{}, what, err
	}
	r := resource{place: place{dialect: sqlfence.SQLite}, db: db}
	if err := sqlfence.Migrate(context.Background(), db, sqlfence.SQLite); err != nil {
		return r, what, err
	}
	r.guard, err = sqlfence.New(db, sqlfence.SQLite, sqlfence.Config{AttemptsMax: 10_000})
	return r, what, err
}

// childWrites writes with each of its tokens and says how many were accepted.
func childWrites() error {
	r, what, err := begun()
	if err != nil {
		return err
	}
	accepted := 0
	for _, n := range what.Tokens {
		_, err := r.guard.Do(context.Background(), token.Write{Resource: "document", Token: n}, r.increment(int64(n)))
		switch {
		case err == nil:
			accepted++
		case !errors.Is(err, token.ErrStale):
			return err
		}
	}
	if err := r.db.Close(); err != nil {
		return err
	}
	return say(accepted)
}

// childHolds makes a write that never ends.
func childHolds() error {
	r, what, err := begun()
	if err != nil {
		return err
	}
	_, err = r.guard.Do(context.Background(), token.Write{Resource: "document", Token: what.Tokens[0]},
		func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
			if _, err := r.increment(int64(what.Tokens[0]))(ctx, tx); err != nil {
				return nil, err
			}
			if err := say("holding"); err != nil {
				return nil, err
			}
			var never chan struct{}
			<-never
			return nil, nil
		})
	return err
}
