package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/token"
)

const (
	// shortTTL is for the nodes that will lose their leases: so long the group
	// waits for a holder after it was last heard.
	shortTTL = 3 * time.Second
	// longTTL is for all others. It costs nothing as long as nobody dies, and
	// survives longer pauses.
	longTTL = coordinator.DefaultTTL
	// storyMax bounds the whole program. The story needs some 10 s.
	storyMax = 5 * time.Minute
)

// story is what the chapters share.
type story struct {
	out      io.Writer
	cluster  *cluster
	document document
	grants   []token.Token // of all nodes, in the order in which they were told
	written  edition       // the last that a holder wrote
	refused  int           // stale writes
}

// tellAll tells the story to out. It returns the first thing that was not as
// it should be. In any case no process is left and the files are removed.
func tellAll(ctx context.Context, out io.Writer) (err error) {
	ctx, cancel := context.WithTimeout(ctx, storyMax)
	defer cancel()
	dir, err := os.MkdirTemp("", "palisade-cluster-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	nodes, err := newCluster(dir)
	if err != nil {
		return err
	}
	s := &story{out: out, cluster: nodes, document: documentIn(dir)}
	return nodes.close(s.tellChapters(ctx))
}

// tellChapters tells the chapters in their order. Each goes on where the one
// before has ended.
func (s *story) tellChapters(ctx context.Context) error {
	fmt.Fprintln(s.out, "Three processes run a node each, over TCP with TLS. One lock, \"report\", protects a file.")
	for i, chapter := range []struct {
		title string
		tell  func(context.Context) error
	}{
		{"The holder is killed", s.killHolder},
		{"The holder is paused", s.pauseHolder},
		{"All nodes are restarted", s.restartAll},
		{"The nodes stop", s.stopAll},
	} {
		fmt.Fprintf(s.out, "\n%d. %s\n", i+1, chapter.title)
		if err := chapter.tell(ctx); err != nil {
			return fmt.Errorf("chapter %d, %q: %w", i+1, chapter.title, err)
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

// line has a node acquire the lock, and checks that it stands in line behind
// exactly these, of which the first holds the lock.
func (s *story) line(ctx context.Context, id coordinator.NodeID, ahead ...coordinator.NodeID) error {
	place, err := s.node(id).obey(ctx, "acquire", "waiting")
	if err != nil {
		return err
	}
	names := make([]string, len(ahead))
	for i, other := range ahead {
		names[i] = fmt.Sprintf("node %d", other)
	}
	if want := "behind " + strings.Join(names, ", "); place != want {
		return fmt.Errorf("node %d should wait %s, but waits %s", id, want, place)
	}
	return nil
}

// acquired waits until a node has got the lock, and checks that its token is
// greater than all before.
func (s *story) acquired(ctx context.Context, id coordinator.NodeID) error {
	text, err := s.node(id).expect(ctx, "acquired")
	if err != nil {
		return err
	}
	t, err := token.Parse(text)
	if err != nil {
		return fmt.Errorf("node %d acquired the lock: %w", id, err)
	}
	if before := s.highest(); t <= before {
		return fmt.Errorf("node %d got token %s after %s", id, t, before)
	}
	s.grants = append(s.grants, t)
	return nil
}

// highest is the token of the last grant, 0 before the first.
func (s *story) highest() token.Token {
	if len(s.grants) == 0 {
		return 0
	}
	return s.grants[len(s.grants)-1]
}

// write has the holder write the document, with the token of the last grant,
// and checks that the document has it.
func (s *story) write(ctx context.Context, id coordinator.NodeID) error {
	text := fmt.Sprintf("text of node %d, written as owner %d", id, len(s.grants))
	if _, err := s.node(id).obey(ctx, "write "+text, "wrote"); err != nil {
		return err
	}
	s.written = edition{s.highest(), text}
	return s.unchanged()
}

// unchanged checks that the document is as a holder wrote it last.
func (s *story) unchanged() error {
	found, err := s.document.read()
	if err != nil {
		return err
	}
	if found != s.written {
		return fmt.Errorf("the file should have %q with token %s, but it has %q with token %s",
			s.written.text, s.written.token, found.text, found.token)
	}
	return nil
}
