package member

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A program's name can have parentheses and spaces.
func TestAProcessStateIsReadBehindTheName(t *testing.T) {
	got, err := parseStat([]byte("4711 (a ) b (c) S 17 4711 4711 0 -1 4194560 2053 0 0 0 250 50 7 8 20 0 9 0 12345\n"))
	require.NoError(t, err)
	require.Equal(t, stat{parent: 17, cpu: 3 * time.Second}, got)
	for _, text := range []string{"", "4711 (x) S 17", "4711 (x) S 1 2 3 4 5 6 7 8 9 10 x 12 13"} {
		_, err := parseStat([]byte(text))
		require.Error(t, err, "of %q", text)
	}
}

func TestWhatIsASync(t *testing.T) {
	for _, line := range []string{
		"fsync(5) = 0",
		"4711  fdatasync(7) = 0",
		"4711  fdatasync(7 <unfinished ...>",
		"3     sync() = 0",
		"msync(0x7f00, 4096, MS_SYNC) = 0",
		"sync_file_range(5, 0, 4096, SYNC_FILE_RANGE_WRITE|SYNC_FILE_RANGE_WAIT_AFTER) = 0",
	} {
		require.True(t, isSync(line), line)
	}
	for _, line := range []string{
		"",
		"4711  <... fdatasync resumed>) = 0",
		"4711  <... fdatasync resumed>) = -1 EIO (Input/output error)",
		"4711  +++ exited with 0 +++",
		"sync_file_range(5, 0, 4096, SYNC_FILE_RANGE_WRITE) = 0",
		"write(1, \"fsync(\", 6) = 6",
	} {
		require.False(t, isSync(line), line)
	}
}
