package kerneltest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// The test binary is a child that changes files when the first of these names
// its directory. The others say which call fails, and whether for ever.
const (
	childVariable = "KERNELTEST_CHILD"
	atVariable    = "KERNELTEST_AT"
	everVariable  = "KERNELTEST_EVER"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childVariable); dir != "" {
		if err := child(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child watches itself making steps. It notes the name of each that took place,
// and what an error was.
func child(dir string) error {
	journal, err := os.Create(filepath.Join(dir, "journal"))
	if err != nil {
		return err
	}
	at, err := strconv.Atoi(os.Getenv(atVariable))
	if err != nil {
		return err
	}
	fault := Fault{At: at, Ever: os.Getenv(everVariable) != "", With: syscall.ENOSPC}
	root := filepath.Join(dir, "root")
	w, err := Start(root, journal, fault)
	if err != nil {
		return err
	}
	for _, s := range steps(root) {
		if err := s.do(); err != nil {
			w.Note("%s: %v", s.name, err)
		} else {
			w.Note("%s", s.name)
		}
	}
	return nil
}

// step is something that the child does below its root.
type step struct {
	name string
	do   func() error
}

func steps(root string) []step {
	in := func(name string) string { return filepath.Join(root, name) }
	var log *os.File
	return []step{
		{"make a directory", func() error { return os.Mkdir(in("store"), 0o700) }},
		{"link it", func() error { return os.Symlink("store", in("host")) }},
		{"open a log through the link", func() (err error) {
			log, err = os.OpenFile(in("host/1.log"), os.O_RDWR|os.O_CREATE, 0o600)
			return err
		}},
		{"write", func() error { _, err := log.Write([]byte("abcdef")); return err }},
		{"write in the midst", func() error { _, err := log.WriteAt([]byte("CD"), 2); return err }},
		{"sync the log", func() error { return log.Sync() }},
		{"sync the directories", func() error { return errors.Join(syncOf(in("store")), syncOf(root)) }},
		{"write more", func() error { _, err := log.Write([]byte("ghi")); return err }},
		{"shorten", func() error { return log.Truncate(8) }},
		{"rename", func() error { return os.Rename(in("store/1.log"), in("store/2.log")) }},
		{"append by name", func() error {
			f, err := os.OpenFile(in("store/2.log"), os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				return err
			}
			_, err = f.Write([]byte("!"))
			return errors.Join(err, f.Close())
		}},
		{"write anew", func() error { return os.WriteFile(in("notes"), []byte("one"), 0o600) }},
		{"write anew again", func() error { return os.WriteFile(in("notes"), []byte("2"), 0o600) }},
		{"remove all of a directory", func() error {
			err := errors.Join(os.MkdirAll(in("a/b"), 0o700), os.WriteFile(in("a/b/c"), nil, 0o600))
			return errors.Join(err, os.RemoveAll(in("a")))
		}},
		{"write elsewhere", func() error { return os.WriteFile(in("../elsewhere"), []byte("x"), 0o600) }},
	}
}

func syncOf(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// watched runs a child, and returns its journal and its root.
func watched(t *testing.T, at int, ever bool) ([]Operation, string) {
	t.Helper()
	dir := t.TempDir()
	root := filepath.Join(dir, "root")
	require.NoError(t, os.Mkdir(root, 0o700))
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+dir, atVariable+"="+strconv.Itoa(at))
	if ever {
		cmd.Env = append(cmd.Env, everVariable+"=1")
	}
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", said)
	f, err := os.Open(filepath.Join(dir, "journal"))
	require.NoError(t, err)
	defer f.Close()
	journal, err := ReadJournal(f)
	require.NoError(t, err)
	return journal, root
}

// tree returns what is below a directory: files by content, and links.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	found := make(map[string]string)
	require.NoError(t, filepath.Walk(root, func(at string, info os.FileInfo, err error) error {
		if err != nil || at == root {
			return err
		}
		name := strings.TrimPrefix(at, root+"/")
		switch {
		case info.IsDir():
			found[name] = "directory"
		case info.Mode()&os.ModeSymlink != 0:
			target, err := os.Readlink(at)
			found[name] = "-> " + target
			return err
		default:
			content, err := os.ReadFile(at)
			found[name] = string(content)
			return err
		}
		return nil
	}))
	return found
}

// after returns the Image after a note.
func after(t *testing.T, journal []Operation, note string) *Image {
	t.Helper()
	m := NewImage()
	for _, o := range journal {
		require.NoError(t, m.Apply(o))
		if o.Kind == Note && o.To == note {
			return m
		}
	}
	require.FailNow(t, "there is no note "+note)
	return nil
}

func leave(t *testing.T, m *Image, left Left) map[string]string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "left")
	require.NoError(t, m.Leave(dir, left, nil))
	return tree(t, dir)
}

func TestTheJournalTellsWhatTookPlace(t *testing.T) {
	journal, root := watched(t, 0, false)
	last := steps("")[len(steps(""))-1].name
	m := after(t, journal, last)
	require.Equal(t, map[string]string{
		"store": "directory", "host": "-> store", "store/2.log": "abCDefgh!", "notes": "2",
	}, tree(t, root))
	require.Equal(t, tree(t, root), leave(t, m, All))
	require.Equal(t, map[string]string{"store": "directory", "host": "-> store", "store/1.log": "abCDef"}, leave(t, m, Synced))
	var notes []string
	for _, o := range journal {
		if o.Kind == Note {
			notes = append(notes, o.To)
		}
		require.NotContains(t, o.Path, "elsewhere")
	}
	require.Len(t, notes, len(steps("")))
	for i, s := range steps("") {
		require.Equal(t, s.name, notes[i])
	}
}

func TestNothingIsDurableBeforeItsSync(t *testing.T) {
	journal, _ := watched(t, 0, false)
	require.Empty(t, leave(t, after(t, journal, "write"), Synced))
	require.Empty(t, leave(t, after(t, journal, "sync the log"), Synced), "its directory was not synced")
	require.Equal(t, "abCDef", leave(t, after(t, journal, "sync the directories"), Synced)["store/1.log"])
	require.Equal(t, "abCDef", leave(t, after(t, journal, "rename"), Synced)["store/1.log"], "under its old name")
	require.Zero(t, after(t, journal, "write in the midst").Turns())
	require.Equal(t, 3, after(t, journal, "sync the directories").Turns())
	require.Equal(t, 3, after(t, journal, "write anew").Turns())
}

func TestACallFails(t *testing.T) {
	whole, _ := watched(t, 0, false)
	calls := len(slices.DeleteFunc(slices.Clone(whole), func(o Operation) bool { return o.Kind == Note }))
	require.Greater(t, calls, 20)
	for _, ever := range []bool{false, true} {
		for at := 1; at <= calls; at += 3 {
			journal, _ := watched(t, at, ever)
			var failed []Operation
			complained := false
			for _, o := range journal {
				if o.Failed == syscall.ENOSPC {
					failed = append(failed, o)
				}
				complained = complained || o.Kind == Note && strings.Contains(o.To, syscall.ENOSPC.Error())
			}
			require.NotEmpty(t, failed, "call %d", at)
			if !ever {
				require.Len(t, failed, 1, "call %d", at)
			}
			// The standard library tries another way to remove a name.
			removed := failed[0].Kind == Unlink && !ever
			require.True(t, complained || removed, "call %d, %v: nobody was told", at, failed)
		}
	}
}

func TestAFailedSyncIsNotMadeUpForByTheNext(t *testing.T) {
	m := NewImage()
	require.NoError(t, m.Apply(Operation{Kind: Open, Path: "log", File: 7, Flags: syscall.O_CREAT}))
	require.NoError(t, m.Apply(Operation{Kind: Open, Path: ".", File: 8}))
	require.NoError(t, m.Apply(Operation{Kind: Sync, File: 8}))
	require.NoError(t, m.Apply(Operation{Kind: Write, File: 7, Data: []byte("lost")}))
	require.NoError(t, m.Apply(Operation{Kind: Sync, File: 7, Failed: syscall.EIO}))
	require.NoError(t, m.Apply(Operation{Kind: Write, File: 7, Offset: 4, Data: []byte("kept")}))
	require.NoError(t, m.Apply(Operation{Kind: Sync, File: 7}))
	require.Equal(t, map[string]string{"log": "\x00\x00\x00\x00kept"}, leave(t, m, Synced))
	require.Equal(t, map[string]string{"log": "lostkept"}, leave(t, m, All), "it can be read until the power is lost")
}
