package disktest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"
)

// childVariable makes the test binary write two files and end in between.
const childVariable = "DISKTEST_TEST_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childVariable); dir != "" {
		writeAndEnd(dir)
	}
	os.Exit(m.Run())
}

// writeAndEnd makes three changes in the stores' file system and three in the
// engine's: each creates, writes and syncs a file. It ends at one of them.
func writeAndEnd(dir string) {
	at, err := strconv.Atoi(os.Getenv(childVariable + "_AT"))
	if err != nil {
		os.Exit(1)
	}
	var d Disk
	const logOnly = 10
	d.EndAt(End{At: at % logOnly, LogOnly: at > logOnly, Part: 2, Rest: Garbage})
	log, err := d.PebbleFS().Create(filepath.Join(dir, "1.log"), vfs.WriteCategoryUnspecified)
	if err == nil {
		_, err = log.Write([]byte("abc"))
	}
	if err == nil {
		err = log.SyncData()
	}
	if err != nil {
		os.Exit(1)
	}
	snapshot, err := d.EngineFS().Create(filepath.Join(dir, "2.gbsnap"))
	if err == nil {
		_, err = snapshot.Write([]byte("abc"))
	}
	if err == nil {
		err = snapshot.Sync()
	}
	if err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

func TestTheProcessEndsInTheMidstOfAChange(t *testing.T) {
	torn := "ab\xa5"
	for name, c := range map[string]struct {
		at            int
		log, snapshot any // nil: there is no such file
	}{
		"TheCreationOfALog":      {at: 1},
		"AWriteToTheLog":         {at: 2, log: torn},
		"ASyncOfTheLog":          {at: 3, log: "abc"},
		"TheCreationOfASnapshot": {at: 4, log: "abc"},
		"AWriteToASnapshot":      {at: 5, log: "abc", snapshot: torn},
		"ASyncOfASnapshot":       {at: 6, log: "abc", snapshot: "abc"},
		"TheFirstWriteToALog":    {at: 11, log: torn},
		"NoneOfThese":            {at: 7, log: "abc", snapshot: "abc"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), childVariable+"="+dir, childVariable+"_AT="+strconv.Itoa(c.at))
			err := cmd.Run()
			if c.at == 7 {
				require.NoError(t, err)
			} else {
				status := cmd.ProcessState.Sys().(syscall.WaitStatus)
				require.True(t, status.Signaled() && status.Signal() == syscall.SIGKILL, "%v", err)
			}
			require.Equal(t, c.log, content(t, filepath.Join(dir, "1.log")))
			require.Equal(t, c.snapshot, content(t, filepath.Join(dir, "2.gbsnap")))
		})
	}
}

// content returns what is in a file, nil if there is none.
func content(t *testing.T, path string) any {
	data, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(t, err)
	return string(data)
}

func TestTorn(t *testing.T) {
	p := []byte("abcdef")
	require.Empty(t, End{}.torn(p))
	require.Equal(t, []byte("abc"), End{Part: 3}.torn(p))
	require.Equal(t, p, End{Part: 6}.torn(p), "the whole")
	require.Equal(t, []byte("a"), End{Part: 8}.torn(p), "one more than the length and one")
	require.Equal(t, []byte("abcd\x00\x00"), End{Part: 4, Rest: Zeros}.torn(p))
	require.Equal(t, []byte("ab\xa5\x5a\x01\xa5"), End{Part: 2, Rest: Garbage}.torn(p))
	require.Equal(t, []byte("abcdef"), p, "the caller's bytes stay")
}
