package raftnode

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/lni/dragonboat/v4"
	"github.com/lni/dragonboat/v4/config"
	"github.com/lni/dragonboat/v4/raftpb"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/palisade-go/palisade/coordinator/internal/raftlog"
	"github.com/palisade-go/palisade/statemachine"
	"github.com/palisade-go/palisade/statemachine/pebblestore"
	"github.com/palisade-go/palisade/transport"
)

// used returns a single node that has applied something and was stopped.
func used(t *testing.T, options ...option) *peer {
	p := start(t, 1, options...).peers[1]
	p.send(1)
	p.stop()
	return p
}

func (p *peer) raftDir() string  { return filepath.Join(p.dir(), "raft") }
func (p *peer) storeDir() string { return filepath.Join(p.dir(), "store") }

// logDir is where the engine has its log store make its directory, which is by
// the name of the host.
func (p *peer) logDir() string {
	host, err := hostName()
	require.NoError(p.cluster.t, err)
	return filepath.Join(p.raftDir(), host, fmt.Sprintf("%020d", deployment))
}

// rewrite changes the mark of a directory, as another program would have
// written it.
func (p *peer) rewrite(change func(*raftpb.RaftDataStatus)) {
	status := readStatus(p.cluster.t, p.raftDir())
	change(&status)
	content, err := status.Marshal()
	require.NoError(p.cluster.t, err)
	require.NoError(p.cluster.t, os.Remove(filepath.Join(p.raftDir(), deploymentMark)))
	require.NoError(p.cluster.t, writeMark(p.raftDir(), deploymentMark, content))
}

func TestOpenRefuses(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*raftpb.RaftDataStatus)
		want   error
	}{
		{"ADirectoryOfAnotherHost", func(s *raftpb.RaftDataStatus) { s.Hostname = "some-other-host" }, ErrHostChanged},
		{"ADirectoryOfAnotherDeployment", func(s *raftpb.RaftDataStatus) { s.DeploymentId++ }, ErrDeployment},
		{"ADirectoryOfAnotherLogStore", func(s *raftpb.RaftDataStatus) { s.LogdbType = "sharded-pebble" }, ErrLogStore},
		{"ADirectoryOfAnotherLogFormat", func(s *raftpb.RaftDataStatus) { s.BinVer = 99 }, ErrLogStore},
		{"ADirectoryWithOtherWorkers", func(s *raftpb.RaftDataStatus) { s.StepWorkerCount = 16 }, ErrEngineSettings},
		{"ADirectoryWithOtherLogStores", func(s *raftpb.RaftDataStatus) { s.LogdbShardCount = 16 }, ErrEngineSettings},
		{"ADirectoryWithHashedSettings", func(s *raftpb.RaftDataStatus) { s.HardHash = 1 }, ErrEngineSettings},
		{"ADirectoryOfAnotherRegistry", func(s *raftpb.RaftDataStatus) { s.AddressByNodeHostId = true }, ErrEngineSettings},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := used(t)
			sound := readStatus(t, p.raftDir())
			p.rewrite(test.change)
			err := p.start()
			require.ErrorIs(t, err, test.want)
			require.ErrorContains(t, err, p.raftDir())
			// Nothing is left running or locked.
			p.rewrite(func(s *raftpb.RaftDataStatus) { *s = sound })
			require.NoError(t, p.start())
			p.send(1)
		})
	}

	t.Run("ADirectoryOfAnotherNode", func(t *testing.T) {
		p := used(t)
		p.cluster.change = func(cfg *Config) {
			cfg.HostID = func(id statemachine.NodeID) string { return hostID(id + 1) }
		}
		require.ErrorIs(t, p.start(), ErrIdentity)
	})

	t.Run("ADirectoryOfTheEnginesOwnLogStoreNamingBoth", func(t *testing.T) {
		p := start(t, 1).peers[1]
		engines := p.node.cfg.hostConfig(newListener(nil), &registry{})
		engines.Expert.LogDBFactory, engines.Expert.LogDB = nil, config.GetTinyMemLogDBConfig()
		engines.Expert.LogDB.Shards = logStores
		p.stop()
		require.NoError(t, errors.Join(os.RemoveAll(p.raftDir()), os.RemoveAll(p.storeDir())))
		require.NoError(t, os.MkdirAll(filepath.Join(p.raftDir(), replicasDir), 0o700))
		host, err := hostName()
		require.NoError(t, err)
		require.NoError(t, linkHost(p.raftDir(), host))
		started, err := dragonboat.NewNodeHost(engines)
		require.NoError(t, err)
		started.Close()

		p.rewrite(func(s *raftpb.RaftDataStatus) { s.Hostname = "" }) // as this package left it
		err = p.start()
		require.ErrorIs(t, err, ErrLogStore)
		require.ErrorContains(t, err, p.raftDir()+` was written by log store "sharded-pebble" of format 100, this version writes "palisade-raftlog"`)

		p.rewrite(func(s *raftpb.RaftDataStatus) { s.LogdbType, s.BinVer = raftlog.Name, raftlog.BinaryFormat })
		err = p.start()
		require.ErrorIs(t, err, ErrLogStore, "what is there counts, too")
		var format *raftlog.FormatError
		require.ErrorAs(t, err, &format)
		require.Contains(t, format.Found, "the engine's sharded pebble")
	})

	t.Run("ALogThatAnotherStoreHasOpen", func(t *testing.T) {
		p := used(t)
		other, err := raftlog.NewFactory(raftlog.Options{}).Create(config.NodeHostConfig{}, nil, []string{p.logDir()}, nil)
		require.NoError(t, err)
		err = p.start()
		require.ErrorIs(t, err, ErrLocked)
		require.ErrorContains(t, err, p.logDir())
		require.NoError(t, other.Close())
		require.NoError(t, p.start())
		p.send(1)
	})

	t.Run("ALogThatIsDamaged", func(t *testing.T) {
		p := used(t)
		manifests, err := filepath.Glob(filepath.Join(p.logDir(), raftlog.DirName, "MANIFEST-*"))
		require.NoError(t, err)
		require.NotEmpty(t, manifests)
		for _, path := range manifests {
			bad, err := os.ReadFile(path)
			require.NoError(t, err)
			bad[10] ^= 1 // in its first record
			require.NoError(t, os.WriteFile(path, bad, 0o600))
		}
		err = p.start()
		require.ErrorIs(t, err, ErrDamaged)
		require.ErrorContains(t, err, p.logDir())
	})

	t.Run("AReplicaThatWasRemoved", func(t *testing.T) {
		c := start(t, 1)
		p := c.peers[1]
		p.send(1)
		require.NoError(t, p.node.host.StopReplica(1, 1))
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		require.NoError(t, p.node.host.SyncRemoveData(ctx, 1, 1))
		p.stop()
		require.NoError(t, os.RemoveAll(p.storeDir()))
		require.ErrorIs(t, p.start(), ErrRemoved)
	})

	t.Run("AnEngineThatGivesUpWithoutAnError", func(t *testing.T) {
		p := used(t)
		p.cluster.change = func(cfg *Config) { cfg.Network = screaming{} }
		err := p.start()
		require.ErrorIs(t, err, ErrEngine)
		require.ErrorContains(t, err, "without saying why")
		p.cluster.change = func(*Config) {}
		require.NoError(t, p.start(), "nothing is left running or locked")
		p.send(1)
	})

	t.Run("AnAddressThatIsTaken", func(t *testing.T) {
		p := used(t, overTCP())
		listener, err := net.Listen("tcp", p.cluster.address(1))
		require.NoError(t, err)
		err = p.start()
		require.ErrorIs(t, err, ErrEngine)
		require.ErrorIs(t, err, transport.ErrAddressInUse)
		require.ErrorContains(t, err, p.cluster.address(1))
		require.NoError(t, listener.Close())
		require.NoError(t, p.start())
		p.send(1)
	})

	t.Run("AMachineThatDoesNotDecode", func(t *testing.T) {
		p := used(t)
		store, err := pebblestore.Open(p.storeDir(), pebblestore.Options{})
		require.NoError(t, err)
		image, err := store.Image(1, 1)
		require.NoError(t, err)
		require.NoError(t, image.Commit([]statemachine.Record{{Key: []byte("?"), Value: []byte("?")}}))
		require.NoError(t, store.Close())
		require.ErrorIs(t, p.start(), statemachine.ErrMalformed)
	})

	t.Run("AStoreThatIsClosed", func(t *testing.T) {
		p := used(t)
		p.cluster.change = func(cfg *Config) { _ = cfg.Store.Close() }
		require.ErrorIs(t, p.start(), pebblestore.ErrClosed)
	})
}

// screaming is a Network whose Listen panics with what is not an error.
type screaming struct{}

func (screaming) Listen(string, transport.Handler) (io.Closer, error) { panic("no error at all") }

func (screaming) Dial(context.Context, string, string, transport.Kind) (transport.Link, error) {
	return nil, errors.New("nobody there")
}

func TestStraySettingsFileIsRefusedByName(t *testing.T) {
	back, err := os.Getwd()
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.Chdir(dir))
	defer func() { require.NoError(t, os.Chdir(back)) }()
	for _, name := range []string{"dragonboat-soft-settings.json", "dragonboat-hard-settings.json"} {
		require.NoError(t, os.WriteFile(name, []byte("{}"), 0o600))
		_, err := Open(sound())
		require.ErrorIs(t, err, ErrStraySettings)
		require.ErrorContains(t, err, filepath.Join(dir, name))
		require.NoError(t, os.Remove(name))
	}
	require.NoError(t, checkWorkingDirectory())
}

func TestLogAndStoreMustBelongTogether(t *testing.T) {
	t.Run("ALostLogIsRefused", func(t *testing.T) {
		p := used(t)
		require.NoError(t, os.RemoveAll(p.raftDir()))
		err := p.start()
		require.ErrorIs(t, err, ErrTorn)
		require.ErrorContains(t, err, "group 1")
		require.ErrorContains(t, err, "has no log")
		require.NoDirExists(t, p.raftDir(), "and no other one is begun")
	})

	t.Run("ADirectoryThatLostItsLogIsRefused", func(t *testing.T) {
		p := used(t)
		require.NoError(t, os.RemoveAll(filepath.Join(p.raftDir(), replicasDir)))
		err := p.start()
		require.ErrorIs(t, err, ErrTorn)
		require.ErrorContains(t, err, "has no log")
	})

	t.Run("ALostStoreIsRefusedWhenTheLogWasCutOff", func(t *testing.T) {
		c := start(t, 1, withConfig(small))
		p := c.peers[1]
		p.outrun(1, 100)
		p.stop()
		require.NoError(t, os.RemoveAll(p.storeDir()))
		err := p.start()
		require.ErrorIs(t, err, ErrTorn)
		require.ErrorContains(t, err, "applied up to index 0")
	})

	t.Run("ALostStoreIsRefusedAfterAnInstalledSnapshot", func(t *testing.T) {
		c := start(t, 3, withConfig(small))
		leader := c.leader(1)
		p := c.other(leader)
		p.stop()
		leader.outrun(1, 100)
		require.NoError(t, p.start())
		p.send(1)
		require.NotZero(t, p.node.Stats(1).SnapshotsInstalled)
		p.stop()
		require.NoError(t, os.RemoveAll(p.storeDir()))
		require.ErrorIs(t, p.start(), ErrTorn)
	})

	t.Run("ALostStoreIsMadeAnewWhileTheLogIsWhole", func(t *testing.T) {
		c := start(t, 1)
		p := c.peers[1]
		for i := range 20 {
			p.acquire(1, fmt.Sprintf("key-%d", i), time.Hour)
		}
		dump := p.read(1)
		p.stop()
		require.NoError(t, os.RemoveAll(p.storeDir()))
		require.NoError(t, p.start())
		require.Equal(t, dump, p.read(1))
	})

	t.Run("AReceivedSnapshotThatWasNotInstalledYetIsWhole", func(t *testing.T) {
		dir := t.TempDir()
		tail := filepath.Join("00000000000000000077", "snapshot-part-1", "snapshot-1-1", "snapshot-0000000000000010", "s.gbsnap")
		path := filepath.Join(dir, replicasDir, tail)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, make([]byte, 2000), 0o600))
		received := raftpb.Snapshot{
			Index: 16, OnDiskIndex: 16, FileSize: 0,
			Filepath: filepath.Join("/elsewhere/former-host", tail),
		}
		whole, err := snapshotIsWhole(dir, received)
		require.NoError(t, err)
		require.True(t, whole)

		require.NoError(t, os.WriteFile(path, make([]byte, stubBytes), 0o600)) // cut down to a stub
		whole, err = snapshotIsWhole(dir, received)
		require.NoError(t, err)
		require.False(t, whole)

		received.Dummy = true // made here: the state was never in it
		whole, err = snapshotIsWhole(dir, received)
		require.NoError(t, err)
		require.False(t, whole)

		require.NoError(t, os.Remove(path))
		received.Dummy = false
		_, err = snapshotIsWhole(dir, received)
		require.ErrorIs(t, err, os.ErrNotExist)
	})
}

// TestADirectoryThatAnotherProcessLockedIsRefused runs this test a second
// time as the other process: the engine's lock does not exclude its own.
func TestADirectoryThatAnotherProcessLockedIsRefused(t *testing.T) {
	const variable = "RAFTNODE_TEST_LOCK"
	if path := os.Getenv(variable); path != "" {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		require.NoError(t, err)
		require.NoError(t, unix.FcntlFlock(file.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK}))
		fmt.Println("locked")
		_, _ = io.Copy(io.Discard, os.Stdin) // until the parent has seen enough
		return
	}
	p := used(t)
	other := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	other.Env = append(os.Environ(), variable+"="+filepath.Join(p.raftDir(), "LOCK"))
	stdin, err := other.StdinPipe()
	require.NoError(t, err)
	stdout, err := other.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, other.Start())
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "locked\n", line)

	require.ErrorIs(t, p.start(), ErrLocked)

	require.NoError(t, stdin.Close())
	require.NoError(t, other.Wait())
	require.NoError(t, p.start())
	p.send(1)
}

func TestStartErrorKeepsWhatTheEngineSaid(t *testing.T) {
	cause := errors.New("not the owner of the data directory")
	err := startError("d", cause)
	require.ErrorIs(t, err, ErrIdentity)
	require.ErrorIs(t, err, cause)
	cause = errors.New("something new")
	err = startError("d", cause)
	require.ErrorIs(t, err, ErrEngine)
	require.ErrorIs(t, err, cause)
	require.ErrorContains(t, err, "d: something new")
}
