package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/token/sqlfence"
)

const (
	// shortTTL is for the leases that will be lost: so long the group waits for
	// a holder after it was last heard. It is long enough for two steps.
	shortTTL = 4 * time.Second
	// longTTL is for all others. It costs nothing as long as nobody dies.
	longTTL = coordinator.DefaultTTL
	// storyMax bounds the whole program. The story needs some 20 s.
	storyMax = 5 * time.Minute
)

// story is what the chapters share.
type story struct {
	out     io.Writer
	cluster *cluster
	ledger  *ledger
	guard   *sqlfence.Guard
}

// chapter is a part of the story, with what is exported in it.
type chapter struct {
	title string
	tell  func(*story, context.Context, task) error
	task  task
}

// chapters are the story. Each has a month of its own, and goes on with the
// nodes that the one before has left.
var chapters = []chapter{
	{"The fence is off", (*story).overwrite, task{Month: "2026-10", Fenced: false}},
	{"The fence is on", (*story).refuse, task{Month: "2026-11", Fenced: true}},
	{"An answer is lost", (*story).repeat, task{Month: "2026-12", Fenced: true}},
	{"The nodes stop", (*story).stopAll, task{}},
}

// tellAll tells the story to out. It returns the first thing that was not as
// it should be. In any case no process is left and the files are removed.
func tellAll(ctx context.Context, out io.Writer, chapters []chapter) (err error) {
	ctx, cancel := context.WithTimeout(ctx, storyMax)
	defer cancel()
	dir, err := os.MkdirTemp("", "palisade-export-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	ledger, err := openLedger(ctx, databaseIn(dir))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ledger.close()) }()
	guard, err := openGuard(ctx, ledger)
	if err != nil {
		return err
	}
	nodes, err := newCluster(dir)
	if err != nil {
		return err
	}
	s := &story{out, nodes, ledger, guard}
	err = s.tellChapters(ctx, chapters)
	if err != nil && ctx.Err() != nil && !errors.Is(err, ctx.Err()) {
		err = fmt.Errorf("%w: %w", ctx.Err(), err) // SQLite calls it "interrupted"
	}
	return nodes.close(err)
}

func (s *story) tellChapters(ctx context.Context, chapters []chapter) error {
	if err := s.cluster.start(ctx); err != nil {
		return err
	}
	fmt.Fprintln(s.out, "Three processes run a node each and share a database. Whoever owns a month's lease exports it.")
	for i, c := range chapters {
		fmt.Fprintf(s.out, "\n%d. %s\n", i+1, c.title)
		if err := c.tell(s, ctx, c.task); err != nil {
			return fmt.Errorf("chapter %d, %q: %w", i+1, c.title, err)
		}
	}
	return nil
}

// tell prints one sentence. The caller has checked that it is true.
func (s *story) tell(format string, args ...any) {
	fmt.Fprintf(s.out, "   "+format+"\n", args...)
}

// node returns the process of a node that runs.
func (s *story) node(id coordinator.NodeID) *process { return s.cluster.running[id] }
