package identity

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/statemachine"
)

func certificate() Certificate {
	return Certificate{
		Cluster: "billing", Members: []statemachine.NodeID{1, 2, 3}, Groups: 8, Slots: 4096,
		Hash: "fnv1a64-fold/4096", Epoch: 0, Engine: "engine",
	}
}

func mustOpen(t *testing.T, dir string) *Identity {
	t.Helper()
	id, err := Open(dir, 1, certificate())
	require.NoError(t, err)
	return id
}

func TestIncarnationRisesWithEveryStart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "dir")
	var directory statemachine.DirectoryID
	for start := 1; start <= 3; start++ {
		id := mustOpen(t, dir)
		require.Equal(t, statemachine.Incarnation(start), id.Incarnation)
		if start > 1 {
			require.Equal(t, directory, id.Directory, "the directory keeps its id")
		}
		directory = id.Directory
		require.NoError(t, id.Close())
	}
	other := mustOpen(t, t.TempDir())
	require.NotEqual(t, directory, other.Directory)
	require.NoError(t, other.Close())
}

func TestSecondOpenIsRefusedBeforeAnythingIsTouched(t *testing.T) {
	dir := t.TempDir()
	id := mustOpen(t, dir)
	before := list(t, dir)
	_, err := Open(dir, 1, certificate())
	require.ErrorIs(t, err, ErrInUse)
	require.ErrorContains(t, err, dir)
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	_, err = Open(link, 1, certificate())
	require.ErrorIs(t, err, ErrInUse)
	require.ErrorIs(t, CheckFree(dir), ErrInUse)
	require.ErrorContains(t, CheckFree(dir), dir)
	require.Equal(t, before, list(t, dir))
	require.NoError(t, id.Close())
	require.NoError(t, CheckFree(dir))
	require.NoError(t, mustOpen(t, dir).Close())
	missing := filepath.Join(dir, "missing")
	require.NoError(t, CheckFree(missing))
	require.NoDirExists(t, missing)
}

func TestDifferentConfigurationIsRefusedNamingBothValues(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, mustOpen(t, dir).Close())
	for name, c := range map[string]struct {
		change    func(*Certificate)
		both      []string
		ofVersion bool // nothing that is configured
	}{
		"cluster": {func(c *Certificate) { c.Cluster = "other" }, []string{"billing", "other"}, false},
		"members": {func(c *Certificate) { c.Members = []statemachine.NodeID{1, 2, 3, 4, 5} }, []string{"[1 2 3]", "[1 2 3 4 5]"}, false},
		"groups":  {func(c *Certificate) { c.Groups = 16 }, []string{"8", "16"}, false},
		"slots":   {func(c *Certificate) { c.Slots = 1 }, []string{"4096", "1"}, true},
		"hash":    {func(c *Certificate) { c.Hash = "crc" }, []string{"fnv1a64-fold/4096", "crc"}, true},
		"epoch":   {func(c *Certificate) { c.Epoch = 7 }, []string{"0", "7"}, false},
		"engine":  {func(c *Certificate) { c.Engine = "v9" }, []string{"engine", "v9"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			before := list(t, dir)
			changed := certificate()
			c.change(&changed)
			_, err := Open(dir, 1, changed)
			var mismatch *MismatchError
			require.ErrorAs(t, err, &mismatch)
			require.Equal(t, name, mismatch.What)
			require.Equal(t, c.both, []string{mismatch.Stored, mismatch.Configured})
			require.ErrorContains(t, err, dir)
			require.Equal(t, c.ofVersion, errors.Is(err, ErrFormat))
			require.Equal(t, c.ofVersion, strings.Contains(err.Error(), "this version has "+c.both[1]), "%v", err)
			require.Equal(t, !c.ofVersion, strings.Contains(err.Error(), "the configuration has "+c.both[1]), "%v", err)
			require.NotEqual(t, certificate().Deployment(), changed.Deployment(), "such nodes don't hear one another")
			require.Equal(t, before, list(t, dir))
		})
	}
	_, err := Open(dir, 2, certificate())
	var mismatch *MismatchError
	require.ErrorAs(t, err, &mismatch)
	require.Equal(t, "node", mismatch.What)
}

func TestOrderOfMembersDoesNotMatter(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, mustOpen(t, dir).Close())
	c := certificate()
	c.Members = []statemachine.NodeID{3, 1, 2}
	id, err := Open(dir, 1, c)
	require.NoError(t, err)
	require.Equal(t, certificate().Deployment(), id.Certificate.Deployment())
	require.NoError(t, id.Close())
}

func TestDamageIsNamedAndNeverFoundsAnew(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(t *testing.T, dir string)
		want   error
	}{
		"identity not JSON":        {write(identityFile, "{"), ErrDamaged},
		"identity empty":           {write(identityFile, ""), ErrDamaged},
		"identity of format 0":     {write(identityFile, "{}"), ErrDamaged},
		"identity of format 2":     {write(identityFile, `{"format":2}`), ErrFormat},
		"identity too large":       {write(identityFile, strings.Repeat(" ", fileBytesMax+1)), ErrDamaged},
		"identity gone":            {remove(identityFile), ErrDamaged},
		"incarnation not a number": {write(incarnationFile, "x"), ErrDamaged},
		"incarnation empty":        {write(incarnationFile, ""), ErrDamaged},
		"incarnation gone":         {remove(incarnationFile), ErrDamaged},
		"directory id cut short": {func(t *testing.T, dir string) {
			data, err := os.ReadFile(filepath.Join(dir, identityFile))
			require.NoError(t, err)
			id := mustOpen(t, dir)
			require.NoError(t, id.Close())
			cut := strings.Replace(string(data), id.Directory.String(), id.Directory.String()[:30], 1)
			write(identityFile, cut)(t, dir)
		}, ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, mustOpen(t, dir).Close())
			require.NoError(t, os.Mkdir(filepath.Join(dir, RaftDir), 0o700))
			c.damage(t, dir)
			before := list(t, dir)
			_, err := Open(dir, 1, certificate())
			require.ErrorIs(t, err, c.want)
			require.ErrorContains(t, err, dir)
			require.Equal(t, before, list(t, dir))
		})
	}
}

// A crash between the writing of a new file and its renaming leaves the old
// one, and the next start goes on.
func TestCrashBeforeRenameKeepsTheOldFile(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, mustOpen(t, dir).Close())
	write(incarnationFile+".new", "99")(t, dir)
	id := mustOpen(t, dir)
	require.Equal(t, statemachine.Incarnation(2), id.Incarnation)
	require.NoError(t, id.Close())
}

func TestCertificateGolden(t *testing.T) {
	// Both were computed by a second implementation. A change would part every
	// cluster from its own directories.
	require.Equal(t, uint64(0x9335cf770164df9e), certificate().Deployment())
	require.Equal(t, "13a13fcf-7e26-5210-bc72-5c2610fc1400", HostID("billing", 1))
	require.NotEqual(t, HostID("billing", 1), HostID("billing", 2))
	require.NotEqual(t, HostID("billing", 1), HostID("other", 1))
}

func write(name, content string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
}

func remove(name string) func(*testing.T, string) {
	return func(t *testing.T, dir string) { require.NoError(t, os.Remove(filepath.Join(dir, name))) }
}

// list returns the files of a directory with their content.
func list(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return errors.Join(err)
		}
		data, err := os.ReadFile(path)
		files[path] = string(data)
		return err
	}))
	return files
}
