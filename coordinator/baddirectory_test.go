package coordinator_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/internal/raftnode"
	"github.com/palisade-go/palisade/statemachine"
	"github.com/palisade-go/palisade/statemachine/pebblestore"
	"github.com/palisade-go/palisade/transport"
)

// The directories that are refused, and the surroundings. What a process has no
// right to is in permission_linux_test.go.

// atPlace gives the start another directory, in one of the test's.
func atPlace(choose func(t *testing.T, dir string) string) func(*testing.T, *start) func() {
	return func(t *testing.T, s *start) func() {
		dir := filepath.Join(s.root, "place")
		require.NoError(t, os.Mkdir(dir, 0o700))
		s.cfg.Dir = choose(t, dir)
		return func() { require.NoError(t, os.RemoveAll(dir)) }
	}
}

var badPlaces = []badStart{
	{name: "AFile", is: syscall.ENOTDIR, words: []string{"/the-file: not a directory"}, spoil: atPlace(func(t *testing.T, dir string) string {
		return fileIn(t, dir, "the-file")
	})},
	{name: "BelowAFile", is: syscall.ENOTDIR, words: []string{"/the-file/below: not a directory"}, spoil: atPlace(func(t *testing.T, dir string) string {
		return filepath.Join(fileIn(t, dir, "the-file"), "below")
	})},
	{name: "ALinkToAFile", is: syscall.ENOTDIR, words: []string{"/the-link: not a directory"}, spoil: atPlace(func(t *testing.T, dir string) string {
		link := filepath.Join(dir, "the-link")
		require.NoError(t, os.Symlink(fileIn(t, dir, "the-file"), link))
		return link
	})},
	{name: "ALinkInACircle", is: syscall.ELOOP, words: []string{"/the-link"}, spoil: atPlace(func(t *testing.T, dir string) string {
		link := filepath.Join(dir, "the-link")
		require.NoError(t, os.Symlink(link, link))
		return link
	})},
	{name: "ANameThatIsTooLong", is: syscall.ENAMETOOLONG, words: []string{"file name too long"}, spoil: atPlace(func(_ *testing.T, dir string) string {
		return filepath.Join(dir, strings.Repeat("n", 4096))
	})},
	{name: "ANameThatCanNotBe", is: syscall.EINVAL, words: []string{"invalid argument"}, spoil: atPlace(func(_ *testing.T, dir string) string {
		return filepath.Join(dir, "no\x00de")
	})},
	{name: "InUse", is: coordinator.ErrDirectoryInUse, words: []string{"DIR"}, spoil: inUse(func(*start) {}), counted: true},
	{name: "InUseByAnotherName", is: coordinator.ErrDirectoryInUse, words: []string{"/the-link"}, counted: true, spoil: func(t *testing.T, s *start) func() {
		link := filepath.Join(t.TempDir(), "the-link")
		require.NoError(t, os.Symlink(s.cfg.Dir, link))
		return inUse(func(s *start) { s.cfg.Dir = link })(t, s)
	}},
}

func fileIn(t *testing.T, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(path, []byte("content"), 0o600))
	return path
}

// inUse lets the node run meanwhile, which is the start that is counted.
func inUse(change func(*start)) func(*testing.T, *start) func() {
	return func(t *testing.T, s *start) func() {
		c, err := coordinator.Open(s.ctx, s.cfg)
		require.NoError(t, err)
		if len(s.cfg.Peers) == 0 {
			announce(t, c) // from now on it has nothing to do
		}
		change(s)
		return func() { require.NoError(t, c.Close()) }
	}
}

// othersDirectory makes a row of a difference between the directory and the
// configuration.
func othersDirectory(name string, change func(*coordinator.Config), words ...string) badStart {
	return badStart{name: name, words: append(words, "DIR"), spoil: only(change), mismatch: true}
}

var othersDirectories = []badStart{
	othersDirectory("OfAnotherNode", func(c *coordinator.Config) {
		c.NodeID, c.Listen = 2, c.Peers[2]
	}, "node: the directory was made with 1, the configuration has 2"),
	othersDirectory("OfAnotherCluster", func(c *coordinator.Config) { c.Cluster = "reports" },
		"cluster: the directory was made with billing, the configuration has reports"),
	othersDirectory("OfOtherMembers", func(c *coordinator.Config) { c.Peers[4] = c.Peers[3]; delete(c.Peers, 3) },
		"members: the directory was made with [1 2 3], the configuration has [1 2 4]"),
	othersDirectory("OfANodeAlone", func(c *coordinator.Config) { c.Peers, c.Listen = nil, "" },
		"members: the directory was made with [1 2 3], the configuration has [1]"),
	othersDirectory("OfAnotherNumberOfGroups", func(c *coordinator.Config) { c.Groups = 3 },
		"groups: the directory was made with 2, the configuration has 3"),
	othersDirectory("OfAnotherEpoch", func(c *coordinator.Config) { c.Epoch = 7 },
		"epoch: the directory was made with 0, the configuration has 7"),
	othersDirectory("OfSeveralOthers", func(c *coordinator.Config) { c.Cluster, c.Epoch, c.Groups = "reports", 7, 3 },
		"billing", "reports", "epoch", "groups"),
}

// replaced makes a row of a file of the directory with other content.
func replaced(name, file, content string, is error, counted bool, words ...string) badStart {
	return badStart{name: name, is: is, words: append(words, "DIR"), counted: counted, spoil: func(t *testing.T, s *start) func() {
		path := filepath.Join(s.cfg.Dir, filepath.FromSlash(file))
		kept, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return func() { require.NoError(t, os.WriteFile(path, kept, 0o600)) }
	}}
}

// edited makes a row of a file of the directory in which one thing is another.
func edited(name, file, old, other string, is error, counted bool, words ...string) badStart {
	return badStart{name: name, is: is, words: append(words, "DIR"), counted: counted, spoil: func(t *testing.T, s *start) func() {
		kept, err := os.ReadFile(filepath.Join(s.cfg.Dir, file))
		require.NoError(t, err)
		require.Contains(t, string(kept), old)
		return replaced("", file, strings.Replace(string(kept), old, other, 1), nil, false).spoil(t, s)
	}}
}

// logStore is where the Raft log of a node in dir is.
func logStore(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "raft", "replicas", "*", "raftlog"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	return found[0]
}

// damaged makes a row of a store with a wrong bit in the manifest of its database.
func damaged(name string, place func(t *testing.T, dir string) string, words ...string) badStart {
	return badStart{name: name, is: coordinator.ErrDirectoryDamaged, words: words, counted: true, spoil: func(t *testing.T, s *start) func() {
		manifests, err := filepath.Glob(filepath.Join(place(t, s.cfg.Dir), "MANIFEST-*"))
		require.NoError(t, err)
		require.NotEmpty(t, manifests)
		path := manifests[len(manifests)-1]
		kept, err := os.ReadFile(path)
		require.NoError(t, err)
		bad := append([]byte(nil), kept...)
		bad[10] ^= 1 // in its first record
		require.NoError(t, os.WriteFile(path, bad, 0o600))
		return func() { require.NoError(t, os.WriteFile(path, kept, 0o600)) }
	}}
}

// instead makes a row of something that is of another kind.
func instead(name, file string, is error, counted bool, place func(path string) error) badStart {
	return badStart{name: name, is: is, words: []string{"DIR/" + file}, counted: counted, spoil: func(t *testing.T, s *start) func() {
		path := filepath.Join(s.cfg.Dir, file)
		aside := filepath.Join(t.TempDir(), file)
		require.NoError(t, os.Rename(path, aside))
		require.NoError(t, place(path))
		return func() {
			require.NoError(t, os.Remove(path))
			require.NoError(t, os.Rename(aside, path))
		}
	}}
}

func makeDir(path string) error  { return os.Mkdir(path, 0o700) }
func makeFile(path string) error { return os.WriteFile(path, []byte("content"), 0o600) }

var badDirectories = []badStart{
	replaced("OfALaterFormat", "identity.json", `{"format":2}`, coordinator.ErrDirectoryFormat, false, "is of format 2, this version reads up to 1"),
	edited("WithTheEnginesOwnLogStore", "identity.json", "logstore=palisade-raftlog", "logstore=sharded-pebble", coordinator.ErrDirectoryFormat, false,
		"engine: the directory was made with dragonboat/4 exec=2 logstore=sharded-pebble logstores=1",
		"this version has dragonboat/4 exec=2 logstore=palisade-raftlog logstores=1"),
	replaced("WithoutAnIdentity", "identity.json", "", coordinator.ErrDirectoryDamaged, false, "identity.json"),
	replaced("WithAnIdentityOfNoFormat", "identity.json", "{}", coordinator.ErrDirectoryDamaged, false, "identity.json: format 0"),
	replaced("WithAnIncarnationTooGreat", "incarnation", "9223372036854775808\n", coordinator.ErrDirectoryDamaged, false, "incarnation"),
	replaced("WithPeersThatDoNotDecode", "peers.json", `{"met":{"1":{"directory":"00"}}}`, coordinator.ErrDirectoryDamaged, false, "peers.json: node 1"),
	replaced("WithAnotherMarkOfTheEngine", "raft/dragonboat.ds", "0123456789", coordinator.ErrDirectoryDamaged, true, "dragonboat.ds: its sum is wrong"),
	instead("WithADirectoryAsALock", "LOCK", syscall.EISDIR, false, makeDir),
	instead("WithADirectoryAsAnIdentity", "identity.json", syscall.EISDIR, false, makeDir),
	instead("WithAFileAsMachines", "machines", syscall.ENOTDIR, true, makeFile),
	instead("WithAFileAsALog", "raft", syscall.ENOTDIR, true, makeFile),
	damaged("WithALogThatIsDamaged", logStore, "DIR/raft", "raftlog"),
	{name: "WithALogOfTheEnginesOwnStore", is: coordinator.ErrDirectoryFormat, words: []string{"DIR/raft", "the engine's sharded pebble"}, counted: true, spoil: func(t *testing.T, s *start) func() {
		engines := filepath.Join(filepath.Dir(logStore(t, s.cfg.Dir)), "logdb-0")
		require.NoError(t, os.Mkdir(engines, 0o700))
		return func() { require.NoError(t, os.Remove(engines)) }
	}},
	{name: "ThatLostItsLog", is: coordinator.ErrDirectoryDamaged, words: []string{"DIR", "group 1", "has no log"}, counted: true, spoil: func(t *testing.T, s *start) func() {
		path, aside := filepath.Join(s.cfg.Dir, "raft"), filepath.Join(t.TempDir(), "raft")
		require.NoError(t, os.Rename(path, aside))
		return func() { require.NoError(t, os.Rename(aside, path)) }
	}},
}

// machine makes a row of an image of a machine with other records, in group 1.
func machine(name string, is error, change func(t *testing.T, of [2][]statemachine.Record) []statemachine.Record, words ...string) badStart {
	return badStart{name: name, is: is, words: append(words, "DIR"), counted: true, spoil: func(t *testing.T, s *start) func() {
		images := func(do func([2]*pebblestore.Image)) {
			store, err := pebblestore.Open(filepath.Join(s.cfg.Dir, "machines"), pebblestore.Options{})
			require.NoError(t, err)
			defer func() { require.NoError(t, store.Close()) }()
			one, err := store.Image(1, 1)
			require.NoError(t, err)
			two, err := store.Image(2, 1)
			require.NoError(t, err)
			do([2]*pebblestore.Image{one, two})
		}
		var undo []statemachine.Record
		images(func(of [2]*pebblestore.Image) {
			var kept [2][]statemachine.Record
			for i, image := range of {
				require.NoError(t, image.Each(func(key, value []byte) error {
					kept[i] = append(kept[i], statemachine.Record{Key: bytes.Clone(key), Value: bytes.Clone(value)})
					return nil
				}))
			}
			changes := change(t, kept)
			for _, record := range changes {
				undo = append(undo, statemachine.Record{Key: record.Key}) // deleted, or
			}
			undo = append(undo, kept[0]...) // what it was
			require.NoError(t, of[0].Commit(changes))
		})
		return func() { images(func(of [2]*pebblestore.Image) { require.NoError(t, of[0].Commit(undo)) }) }
	}}
}

// The first record of an image is its meta, the second the presence of node 1.
var badMachines = []badStart{
	machine("WithARecordOfNoKind", coordinator.ErrDirectoryDamaged, func(*testing.T, [2][]statemachine.Record) []statemachine.Record {
		return []statemachine.Record{{Key: []byte("?"), Value: []byte("?")}}
	}, "group 1", "record 3f", "unknown kind 63"),
	machine("WithABitThatIsWrong", coordinator.ErrDirectoryDamaged, func(_ *testing.T, of [2][]statemachine.Record) []statemachine.Record {
		value := append([]byte(nil), of[0][1].Value...)
		value[1] ^= 0x80
		return []statemachine.Record{{Key: of[0][1].Key, Value: value}}
	}, "group 1", "record 02"),
	machine("WithARecordThatIsCutOff", coordinator.ErrDirectoryDamaged, func(_ *testing.T, of [2][]statemachine.Record) []statemachine.Record {
		return []statemachine.Record{{Key: of[0][1].Key, Value: of[0][1].Value[:3]}}
	}, "group 1", "record 02"),
	machine("OfAnotherGroup", coordinator.ErrDirectoryDamaged, func(_ *testing.T, of [2][]statemachine.Record) []statemachine.Record {
		return of[1]
	}, "image of group 2, expected group 1"),
	machine("WithoutItsHead", coordinator.ErrDirectoryDamaged, func(_ *testing.T, of [2][]statemachine.Record) []statemachine.Record {
		return []statemachine.Record{{Key: of[0][0].Key}}
	}, "image without meta"),
	machine("OfALaterFormat", coordinator.ErrDirectoryFormat, func(_ *testing.T, of [2][]statemachine.Record) []statemachine.Record {
		value := append([]byte(nil), of[0][1].Value...)
		value[0]++
		return []statemachine.Record{{Key: of[0][1].Key, Value: value}}
	}, "group 1", "record format 2, this binary knows 1"),
	damaged("InAStoreThatIsDamaged", func(_ *testing.T, dir string) string { return filepath.Join(dir, "machines") }, "DIR/machines"),
}

var badSurroundings = []badStart{
	{name: "APortInUse", is: transport.ErrAddressInUse, words: []string{"127.0.0.1:"}, spoil: func(t *testing.T, s *start) func() {
		return occupied(t, s.cfg.Listen)
	}},
	{name: "APortInUseOnAllInterfaces", is: syscall.EADDRINUSE, words: []string{"address in use"}, spoil: func(t *testing.T, s *start) func() {
		s.cfg.Listen = "" // all, at the port of Peers
		return occupied(t, s.cfg.Peers[1])
	}},
	{name: "APortAndADirectoryInUse", is: transport.ErrAddressInUse, words: []string{"the directory is in use", "DIR"}, counted: true, spoil: inUse(func(*start) {})},
	{name: "AnAddressOfAnotherHost", is: syscall.EADDRNOTAVAIL, words: []string{`"192.0.2.1:7400"`}, spoil: only(func(c *coordinator.Config) {
		c.Listen = "192.0.2.1:7400"
	})},
	{name: "SoftSettingsInTheWorkingDirectory", is: raftnode.ErrStraySettings, words: []string{"/dragonboat-soft-settings.json: remove it"}, spoil: func(t *testing.T, _ *start) func() {
		return inWorkingDirectory(t, "dragonboat-soft-settings.json")
	}},
	{name: "HardSettingsInTheWorkingDirectory", is: raftnode.ErrStraySettings, words: []string{"/dragonboat-hard-settings.json: remove it"}, spoil: func(t *testing.T, _ *start) func() {
		return inWorkingDirectory(t, "dragonboat-hard-settings.json")
	}},
}
