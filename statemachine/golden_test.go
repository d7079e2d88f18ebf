package statemachine

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write golden files that are missing or differ; a file that was released must never change")

// golden returns the path of a file that pins bytes of format 1.
func golden(name string) string { return filepath.Join("testdata", "golden", "v1", name) }

// pin compares text with the golden file.
func pin(t *testing.T, name, text string) {
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(golden(name)), 0o755))
		require.NoError(t, os.WriteFile(golden(name), []byte(text), 0o644))
	}
	want, err := os.ReadFile(golden(name))
	require.NoError(t, err)
	require.Equal(t, string(want), text)
}

// TestGoldenBatches pins the bytes of batches, both ways.
func TestGoldenBatches(t *testing.T) {
	for name, b := range sampleBatches() {
		t.Run(name, func(t *testing.T) {
			pin(t, "batch_"+name+".hex", hex.Dump(encoded(t, b)))
			got, err := DecodeBatch(readDump(t, golden("batch_"+name+".hex")))
			require.NoError(t, err)
			require.Equal(t, b, got)
		})
	}
}

// TestGoldenImage pins the records of an image, both ways.
func TestGoldenImage(t *testing.T) {
	m := sampleMachine(t)
	var records strings.Builder
	for key, value := range m.Records() {
		fmt.Fprintf(&records, "%x %x\n", key, value)
	}
	pin(t, "image.hex", records.String())
	pin(t, "image.txt", dump(t, m))

	loaded, err := Load(Genesis{Group: 7}, readRecords(t, golden("image.hex")))
	require.NoError(t, err)
	want, err := os.ReadFile(golden("image.txt"))
	require.NoError(t, err)
	require.Equal(t, string(want), dump(t, loaded))
}

// sampleMachine has everything that an image can have.
func sampleMachine(t testing.TB) *Machine {
	m := New(Genesis{Group: 7, Epoch: 3, Members: []NodeID{1, 2, 300, 70000}})
	directory := DirectoryID{0: 0xab, 15: 0xcd}
	for i, b := range []Batch{
		{Node: 1, Directory: directory, Incarnation: 1, Number: 1, Speaks: 1, Wall: 1700000000000000000, Commands: []Command{
			Acquire{Seq: 1, Claims: claims("a", "b"), TTL: 15 * time.Second, Limit: time.Hour, RequestID: "r-1", Metadata: "job"},
		}},
		{Node: 1, Directory: directory, Incarnation: 2, Number: 200, Speaks: 1, Wall: -5, Commands: []Command{
			Acquire{Seq: 1, Claims: claims("b"), TTL: 1, Wait: true, RequestID: "r-2"},
			Acquire{Seq: 2, Claims: claims("\x00\xff", "{c}"), TTL: time.Minute},
		}},
		{Node: 300, Incarnation: 70000, Number: 70000, Speaks: 1, Commands: []Command{
			Acquire{Seq: 1 << 40, Claims: claims("a", "z"), TTL: 15 * time.Second, Wait: true, Limit: 1},
			Leave{},
		}},
	} {
		require.Empty(t, only[Refused](m.Apply(Index(1000*(i+1)), b)))
	}
	require.NoError(t, m.Check())
	return m
}

// readDump reads the bytes of a hex.Dump.
func readDump(t *testing.T, path string) []byte {
	var data []byte
	for _, line := range lines(t, path) {
		middle, _, _ := strings.Cut(line[8:], "|")
		b, err := hex.DecodeString(strings.ReplaceAll(middle, " ", ""))
		require.NoError(t, err)
		data = append(data, b...)
	}
	return data
}

// readRecords reads records, "key value" in hexadecimal.
func readRecords(t *testing.T, path string) func(func(key, value []byte) bool) {
	return func(yield func(key, value []byte) bool) {
		for _, line := range lines(t, path) {
			key, value, _ := strings.Cut(line, " ")
			k, err := hex.DecodeString(key)
			require.NoError(t, err)
			v, err := hex.DecodeString(value)
			require.NoError(t, err)
			if !yield(k, v) {
				return
			}
		}
	}
}

func lines(t *testing.T, path string) []string {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var lines []string
	s := bufio.NewScanner(bytes.NewReader(text))
	for s.Scan() {
		lines = append(lines, s.Text())
	}
	return lines
}
