package raftnode

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/palisade-go/palisade/statemachine"
)

// underHostName runs call under another host name, as the engine sees it when
// it starts: on a thread of its own with a name space of its own. The thread
// ends with it.
func underHostName(t *testing.T, name string, call func() error) error {
	result := make(chan error, 1)
	skip := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked, so the thread is not used again
		if err := unix.Unshare(unix.CLONE_NEWUTS); err != nil {
			skip <- err
			return
		}
		if err := unix.Sethostname([]byte(name)); err != nil {
			result <- err
			return
		}
		if host, err := os.Hostname(); err != nil || host != name {
			result <- errors.Join(err, errors.New("the host name is "+host))
			return
		}
		result <- call()
	}()
	select {
	case err := <-skip:
		t.Skipf("a name space of its own for the host name is not allowed here: %v", err)
		return nil
	case err := <-result:
		return err
	}
}

func TestAHostNameThatIsNoNameForALinkIsRefused(t *testing.T) {
	for name, want := range map[string]error{"lock": ErrHostName, "..": ErrHostName, "app-0": nil} {
		require.ErrorIs(t, underHostName(t, name, CheckSurroundings), want)
	}
}

func TestAChangedHostNameDoesNotMatter(t *testing.T) {
	c := newCluster(t, 3, withConfig(small))
	for _, id := range c.members {
		require.NoError(t, underHostName(t, "first-host", c.peers[id].start))
	}
	lease := c.peers[1].acquire(1, "k", time.Hour)
	c.leader(1).outrun(1, 100) // so that there are snapshots under the name
	dump := c.peers[1].read(1)
	for _, p := range c.peers {
		p.stop()
	}
	for _, id := range c.members {
		c.move(id)
		require.NoError(t, underHostName(t, "second-host", c.peers[id].start))
	}
	for _, p := range c.peers {
		require.Equal(t, dump, p.read(1))
		require.NoError(t, p.node.View(1, func(m *statemachine.Machine) {
			_, held := m.Lease(lease)
			require.True(t, held, "node %d", p.id)
		}))
		entries, err := os.ReadDir(filepath.Join(p.dir(), "raft"))
		require.NoError(t, err)
		var names []string
		for _, entry := range entries {
			names = append(names, entry.Name())
		}
		require.ElementsMatch(t, []string{"LOCK", identityMark, deploymentMark, replicasDir, "second-host"}, names)
	}
	// And it goes on under the new name: snapshots too.
	c.leader(1).outrun(1, 100)
}
