package coordinator_test

import (
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/internal/porttest"
	"github.com/palisade-go/palisade/transport"
)

// badStart is a start of a node with something wrong in it. The same node in
// the same directory has run before, and has to run afterwards.
type badStart struct {
	name string
	// spoil makes the start wrong, and returns what makes the directory right
	// again; nil: there is nothing to mend.
	spoil func(t *testing.T, s *start) (mend func())
	is    error
	words []string // in the error; DIR stands for the directory
	// counted: it comes as far as the stores. They put their own files in order
	// then, and the start is counted.
	counted bool
	// mismatch: the error is a *MismatchError.
	mismatch bool
}

// start is what Open is given.
type start struct {
	ctx  context.Context
	root string // of the test, with the directory in it
	cfg  coordinator.Config
}

// only returns a spoil that changes the configuration.
func only(change func(*coordinator.Config)) func(*testing.T, *start) func() {
	return func(_ *testing.T, s *start) func() {
		change(&s.cfg)
		return nil
	}
}

// startOfOne is the start of a node without a network, startOfThree that of one
// of three over TCP, whose peers never run.
func startOfOne(t *testing.T) start {
	root := t.TempDir()
	return start{context.Background(), root, coordinator.Config{Dir: filepath.Join(root, "above", "node"), Groups: 2}}
}

func startOfThree(t *testing.T) start {
	s := startOfOne(t)
	peers := porttest.Take(t, 3)
	s.cfg.Cluster, s.cfg.NodeID, s.cfg.TLS = "billing", 1, transport.Insecure
	s.cfg.Peers = map[coordinator.NodeID]string{1: peers[0], 2: peers[1], 3: peers[2]}
	s.cfg.Listen = peers[0]
	s.cfg.ElectionTimeout = coordinator.SingleElectionTimeout
	return s
}

// runs opens the node and closes it, and returns which start that was. One that
// is alone has then announced itself to all groups.
func (s start) runs(t *testing.T) uint64 {
	t.Helper()
	c, err := coordinator.Open(s.ctx, s.cfg)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	if len(s.cfg.Peers) == 0 {
		announce(t, c)
	}
	return c.Status().Incarnation
}

// announce returns when all groups know a node that is alone, and it has nothing
// to tell them any more.
func announce(t *testing.T, c *coordinator.Coordinator) {
	t.Helper()
	set, err := c.AcquireAll(patient(t), []string{"a", "b", "c", "d", "e", "f", "g", "h"})
	require.NoError(t, err)
	for _, g := range c.Status().Groups {
		require.NotZero(t, g.Leases, "a key of group %d", g.Group)
	}
	require.NoError(t, set.Release(patient(t)))
}

// refused makes a bad start: it says what is wrong, leaves everything as it was
// and nothing behind, and the node runs afterwards. It returns which start was
// the last one.
func (b badStart) refused(t *testing.T, good start, last uint64) uint64 {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	bad := good
	bad.cfg.Peers = maps.Clone(good.cfg.Peers)
	mend := b.spoil(t, &bad)
	if mend != nil {
		mend = sync.OnceFunc(mend)
		defer mend() // also for the rows after one that fails
	}
	before := contentOf(t, good.root, b.counted)
	c, err := coordinator.Open(bad.ctx, bad.cfg)
	if err == nil {
		require.NoError(t, c.Close())
		require.FailNow(t, "it starts")
	}
	require.Nil(t, c)
	require.Equal(t, coordinator.NotApplied, outcomeOf(t, err))
	if b.mismatch {
		var mismatch *coordinator.MismatchError
		require.ErrorAs(t, err, &mismatch)
	} else {
		require.ErrorIs(t, err, b.is)
	}
	for _, word := range b.words {
		require.ErrorContains(t, err, strings.ReplaceAll(word, "DIR", good.cfg.Dir))
	}
	require.Equal(t, before, contentOf(t, good.root, b.counted))
	if mend == nil {
		return last // the next one that mends shows that the node runs
	}
	mend()
	last++
	if b.counted {
		last++
	}
	require.Equal(t, last, good.runs(t))
	return last
}

// contentOf returns all that is in a directory. Of a start that is counted it
// leaves out the count and the files of the stores.
func contentOf(t *testing.T, root string, counted bool) map[string]string {
	t.Helper()
	all := make(map[string]string)
	require.NoError(t, filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		switch base := filepath.Base(path); {
		case counted && (base == "machines" || base == "raftlog") && info.IsDir():
			return filepath.SkipDir
		case counted && base == "incarnation":
		case info.Mode().IsRegular():
			content, err := os.ReadFile(path)
			all[name] = fmt.Sprint(info.Mode(), " ", string(content))
			return err
		case info.Mode()&os.ModeSymlink != 0:
			target, err := os.Readlink(path)
			all[name] = fmt.Sprint(info.Mode(), " ", target)
			return err
		default:
			all[name] = info.Mode().String()
		}
		return nil
	}))
	return all
}

// What is wrong with a start is said before the directory is touched, or at the
// latest before the engine runs; and the same node starts when it is right.
func TestABadStartGetsAClearErrorAndChangesNothing(t *testing.T) {
	for _, part := range []struct {
		name string
		good func(*testing.T) start
		rows []badStart
	}{
		{"SettingsOfANodeAlone", startOfOne, badSettingsOfOne},
		{"SettingsOfOneOfThree", startOfThree, badSettings},
		{"ThePlaceOfTheDirectory", startOfOne, badPlaces},
		{"ADirectoryOfAnother", startOfThree, othersDirectories},
		{"WhatTheDirectoryHolds", startOfOne, badDirectories},
		{"TheMachinesInIt", startOfOne, badMachines},
		{"TheSurroundings", startOfThree, badSurroundings},
	} {
		t.Run(part.name, func(t *testing.T) {
			good := part.good(t)
			last := good.runs(t)
			for _, row := range part.rows {
				t.Run(row.name, func(t *testing.T) { last = row.refused(t, good, last) })
			}
			require.Equal(t, last+1, good.runs(t))
		})
	}
}

// occupied listens on an address until the test ends.
func occupied(t *testing.T, address string) (leave func()) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	require.NoError(t, err)
	return func() { require.NoError(t, listener.Close()) }
}

// inWorkingDirectory makes a file in the working directory, which is an empty
// one until it is removed.
func inWorkingDirectory(t *testing.T, name string) (remove func()) {
	t.Helper()
	back, err := os.Getwd()
	require.NoError(t, err)
	require.NoError(t, os.Chdir(t.TempDir()))
	require.NoError(t, os.WriteFile(name, []byte("{}"), 0o600))
	return func() { require.NoError(t, os.Chdir(back)) }
}
