package statemachine

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// sampleBatches has every command, and numbers at the borders of their forms.
func sampleBatches() map[string]Batch {
	id := LeaseID{Node: 2, Incarnation: 300, Seq: 70000}
	directory := DirectoryID{0: 0xab, 15: 0xcd}
	return map[string]Batch{
		"empty":  {Node: 1, Directory: directory, Incarnation: 1, Number: 1, Speaks: 1, Wall: 1700000000000000000},
		"zero":   {},
		"leader": {Commands: []Command{Expire{Node: 2, Incarnation: 300, Last: 9, TTL: 15 * time.Second}, ExpireLimit{Lease: id}, Sweep{Node: 3}, Upgrade{Version: 2}}},
		"node": {Node: 1, Directory: directory, Incarnation: 7, Number: 128, Speaks: 1, Wall: -1, Commands: []Command{
			Acquire{Seq: 1, Claims: claims("invoice-export"), TTL: 15 * time.Second},
			Acquire{Seq: 2, Claims: claims("a", "b{c}", "\x00\xff"), Wait: true, TTL: time.Minute, Limit: time.Hour,
				RequestID: "r-1", Metadata: "host=app-0", QueueMax: 1000},
			Cancel{Seq: 2}, Release{Seq: 1}, Leave{},
			Unknown{Code: 9, Version: 1}, Unknown{Code: 1, Version: 2},
		}},
		"borders": {Node: 127, Incarnation: 128, Number: 255, Speaks: 256, Wall: math.MinInt64, Commands: []Command{
			Cancel{Seq: 65535}, Cancel{Seq: 65536}, Cancel{Seq: math.MaxUint32}, Cancel{Seq: math.MaxUint32 + 1}, Cancel{Seq: math.MaxUint64},
			Acquire{TTL: -1, Limit: -32}, Acquire{TTL: -33, Limit: -128}, Acquire{TTL: -129, Limit: -32768},
			Acquire{TTL: -32769, Limit: math.MinInt32}, Acquire{TTL: math.MinInt32 - 1, Limit: math.MaxInt64},
			Acquire{Claims: []Claim{{Mode: 0}, {Mode: 255, Key: strings.Repeat("k", KeyBytesMax)}}, Metadata: strings.Repeat("m", 256)},
			Unknown{Code: math.MaxUint64, Version: math.MaxUint64},
		}},
	}
}

func encoded(t testing.TB, b Batch) []byte {
	data, err := AppendBatch(nil, b)
	require.NoError(t, err)
	return data
}

func TestBatchIsDecodedAsItWasEncoded(t *testing.T) {
	for name, b := range sampleBatches() {
		t.Run(name, func(t *testing.T) {
			data := encoded(t, b)
			got, err := DecodeBatch(data)
			require.NoError(t, err)
			require.Equal(t, b, got)
			require.Equal(t, data, encoded(t, got))

			appended, err := AppendBatch([]byte("before"), b)
			require.NoError(t, err)
			require.Equal(t, append([]byte("before"), data...), appended)
		})
	}
	t.Run("EmptySlicesBecomeNil", func(t *testing.T) {
		got, err := DecodeBatch(encoded(t, Batch{Commands: []Command{Acquire{Claims: []Claim{}}}}))
		require.NoError(t, err)
		require.Equal(t, Batch{Commands: []Command{Acquire{}}}, got)
		got, err = DecodeBatch(encoded(t, Batch{Commands: []Command{}}))
		require.NoError(t, err)
		require.Equal(t, Batch{}, got)
	})
	t.Run("NoMemoryIsShared", func(t *testing.T) {
		data := encoded(t, sampleBatches()["node"])
		got, err := DecodeBatch(data)
		require.NoError(t, err)
		clear(data)
		require.Equal(t, sampleBatches()["node"], got)
	})
}

func TestAppendBatchNamesTheBound(t *testing.T) {
	one := func(c Command) Batch { return Batch{Commands: []Command{c}} }
	many := Batch{Commands: make([]Command, CommandsMax)}
	for i := range many.Commands {
		many.Commands[i] = Acquire{Metadata: strings.Repeat("m", MetadataBytesMax)}
	}
	for text, b := range map[string]Batch{
		"command 0: statemachine: key has 513 bytes, at most 512 are allowed":        one(Acquire{Claims: claims(strings.Repeat("k", KeyBytesMax+1))}),
		"command 0: statemachine: metadata has 1025 bytes, at most 1024 are allowed": one(Acquire{Metadata: strings.Repeat("m", MetadataBytesMax+1)}),
		"command 0: statemachine: request id has 129 bytes, at most 128 are allowed": one(Acquire{RequestID: strings.Repeat("r", RequestIDBytesMax+1)}),
		"command 0: statemachine: 129 claims, at most 128 are allowed":               one(Acquire{Claims: make([]Claim, ClaimsMax+1)}),
		"statemachine: 4097 commands, at most 4096 are allowed":                      {Commands: make([]Command, CommandsMax+1)},
		"command 0: <nil> is no command":                                             one(nil),
		"command 0: *statemachine.Leave is no command":                               one(&Leave{}),
		"command 0: unknown command with the known code 1 and version 1":             one(Unknown{Code: 1, Version: 1}),
		"command 0: unknown command with the known code 99 and version 0":            one(Unknown{Code: 99}),
		"at most 4194304 are allowed":                                                many,
	} {
		dst := []byte("before")
		got, err := AppendBatch(dst, b)
		require.ErrorContains(t, err, text)
		require.Equal(t, dst, got)
	}
}

func TestDecodeBatchRefuses(t *testing.T) {
	refused := func(t *testing.T, data []byte, text string) {
		_, err := DecodeBatch(data)
		require.ErrorIs(t, err, ErrMalformed)
		require.ErrorContains(t, err, text)
	}
	good := encoded(t, sampleBatches()["node"])

	t.Run("EveryPrefix", func(t *testing.T) {
		for n := range good {
			_, err := DecodeBatch(good[:n])
			require.ErrorIs(t, err, ErrMalformed, "%d of %d bytes", n, len(good))
		}
	})
	t.Run("BytesTooMany", func(t *testing.T) {
		refused(t, append(bytes.Clone(good), 0), "batch: 1 bytes too many")
	})
	t.Run("ALaterFormat", func(t *testing.T) {
		data := bytes.Clone(good)
		data[0] = batchFormat + 1
		refused(t, data, "batch format 2, this binary knows 1")
		_, err := DecodeBatch(data)
		require.ErrorIs(t, err, ErrNewer)
		data[0] = 0
		_, err = DecodeBatch(data)
		require.NotErrorIs(t, err, ErrNewer)
	})
	t.Run("MoreBytesThanABatchMayHave", func(t *testing.T) {
		refused(t, make([]byte, BatchBytesMax+1), "batch of 4194305 bytes")
	})

	head := encoded(t, Batch{Node: 1, Incarnation: 1, Number: 1, Speaks: 1})
	head = head[:len(head)-1] // without the count of commands
	with := func(tail ...byte) []byte { return append(bytes.Clone(head), tail...) }
	command := func(code, version byte, body ...byte) []byte {
		return with(append([]byte{1, code, version, 0xc4, byte(len(body))}, body...)...)
	}
	for name, c := range map[string]struct {
		data []byte
		text string
	}{
		"MoreCommandsThanThereAreBytes":    {with(0xcd, 0x10, 0x00), "commands: 4096 in 0 bytes"},
		"MoreCommandsThanAllowed":          {with(0xcd, 0x10, 0x01), "commands: 4097, at most 4096"},
		"ACountOf64Bits":                   {with(0xcf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), "at most 4096"},
		"ACountThatIsNoNumber":             {with(0xa1, 'x'), "commands"},
		"ANegativeCount":                   {with(0xff), "expected 0xcf"},
		"ANumberInALongerForm":             {with(0xcc, 0x00), "begins with 0xcc, expected 0x0"},
		"ANumberInASignedForm":             {with(0xd1, 0x01, 0x00), "begins with 0xd1, expected 0xcd"},
		"NilForANumber":                    {with(0xc0), "begins with 0xc0"},
		"ABodyLongerThanTheBatch":          {with(1, codeRelease, 1, 0xc6, 0x7f, 0xff, 0xff, 0xff), "command body"},
		"ABodyThatIsText":                  {with(1, codeRelease, 1, 0xa1, 0x05), "command body: begins with 0xa1, expected 0xc4"},
		"ABodyThatIsNil":                   {with(1, codeLeave, 1, 0xc0, 0xc0), "command body: begins with 0xc0"},
		"ABodyWithBytesTooMany":            {command(codeRelease, 1, 5, 6), "command body: 1 bytes too many"},
		"ABodyWithBytesTooFew":             {command(codeRelease, 1), "seq: the bytes end before it"},
		"ANumberThatLeavesItsBody":         {with(1, codeRelease, 1, 0xc4, 1, 0xcd, 0x01, 0x00), "command body: 2 bytes too few"},
		"TextThatLeavesItsBody":            {with(append([]byte{1, codeAcquire, 1, 0xc4, 6, 1, 0xc2, 1, 0, 0xc4, 3}, "abc"...)...), "request id: 3 bytes, 0 are there"},
		"ABodyOfLeave":                     {command(codeLeave, 1, 0), "command body: 1 bytes too many"},
		"VersionZero":                      {command(codeLeave, 0), "command version 0"},
		"ABoolThatIsANumber":               {command(codeAcquire, 1, 1, 1, 1, 0, 0xc4, 0, 0xc4, 0, 0, 0), "wait"},
		"ABoolThatIsNil":                   {command(codeAcquire, 1, 1, 0xc0, 1, 0, 0xc4, 0, 0xc4, 0, 0, 0), "wait: begins with 0xc0"},
		"ARequestIDAboveTheBound":          {command(codeAcquire, 1, append([]byte{1, 0xc2, 1, 0, 0xc4, 129}, make([]byte, 129)...)...), "request id: 129 bytes, at most 128"},
		"MoreClaimsThanThereAreBytes":      {command(codeAcquire, 1, 1, 0xc2, 1, 0, 0xc4, 0, 0xc4, 0, 0, 2, 1, 0xc4, 0), "claims: 2 in 3 bytes"},
		"MoreClaimsThanAllowed":            {command(codeAcquire, 1, 1, 0xc2, 1, 0, 0xc4, 0, 0xc4, 0, 0, 0xcc, 129), "claims: 129, at most 128"},
		"AModeThatIsNoByte":                {command(codeAcquire, 1, 1, 0xc2, 1, 0, 0xc4, 0, 0xc4, 0, 0, 1, 0xcd, 1, 0, 0xc4, 0), "mode: 256"},
		"ADirectoryOfAnotherLength":        {[]byte{1, 1, 0xc4, 15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0}, "directory: 15 bytes, expected 16"},
		"AnotherCommandAfterTheLastOne":    {append(command(codeLeave, 1), codeLeave, 1, 0xc4, 0), "batch: 4 bytes too many"},
		"ABodyOfAnUnknownThatIsNotAllHere": {with(1, 99, 1, 0xc4, 200, 0), "command body: 200 bytes, 1 are there"},
	} {
		t.Run(name, func(t *testing.T) { refused(t, c.data, c.text) })
	}

	t.Run("NothingElseOfAnUnknownCommand", func(t *testing.T) {
		got, err := DecodeBatch(command(99, 1, 0xff, 0xfe, 0xc1))
		require.NoError(t, err)
		require.Equal(t, []Command{Unknown{Code: 99, Version: 1}}, got.Commands)
		got, err = DecodeBatch(command(codeRelease, byte(Binary)+1, 0xc1, 0xc1))
		require.NoError(t, err)
		require.Equal(t, []Command{Unknown{Code: codeRelease, Version: Binary + 1}}, got.Commands)
	})
}

// Every known command is written with a form that is known, and read back as
// itself: a command that was forgotten in one of the three places fails here.
func TestEveryCommandHasAForm(t *testing.T) {
	seen := make(map[uint64]bool)
	for _, c := range []Command{
		Acquire{}, Cancel{}, Release{}, Leave{}, Expire{}, ExpireLimit{}, Sweep{}, Upgrade{},
	} {
		f, ok := formOf(c)
		require.True(t, ok, "%T", c)
		require.True(t, knows(f), "%T", c)
		require.False(t, seen[f.code], "%T has the code of another command", c)
		seen[f.code] = true
		got, err := DecodeBatch(encoded(t, Batch{Commands: []Command{c}}))
		require.NoError(t, err)
		require.Equal(t, []Command{c}, got.Commands)
	}
	for code := range uint64(20) {
		require.Equal(t, seen[code], knows(form{code, 1}), fmt.Sprintf("code %d", code))
	}
}

func TestDecodingAllocatesNoMoreThanTheBytesAllow(t *testing.T) {
	data := encoded(t, Batch{})
	data = append(data[:len(data)-1], 0xcd, 0x10, 0x00) // 4096 commands that are not there
	allocated := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			_, _ = DecodeBatch(data)
		}
	}).AllocedBytesPerOp()
	require.Less(t, allocated, int64(4096))
}
