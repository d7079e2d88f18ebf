package batcher

import (
	"flag"
	"fmt"
	"math/rand"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/internal/usagetest"
	"github.com/palisade-go/palisade/statemachine"
)

var replay = flag.Int64("seed", 0, "the seed to replay; 0 draws a new one")

var self = Identity{Node: 3, Directory: statemachine.DirectoryID{7}, Incarnation: 5}

func acquire(seq statemachine.Seq, keys ...string) statemachine.Acquire {
	if len(keys) == 0 {
		keys = []string{"k"}
	}
	a := statemachine.Acquire{Seq: seq, TTL: time.Second, Wait: true}
	for _, key := range keys {
		a.Claims = append(a.Claims, statemachine.Claim{Key: key, Mode: statemachine.Exclusive})
	}
	return a
}

func cut(t *testing.T, b *Batcher, now time.Duration, commands ...statemachine.Command) *Flight {
	t.Helper()
	for _, c := range commands {
		b.Add(c)
	}
	f, err := b.Cut(clock.Instant(now), 1, false)
	require.NoError(t, err)
	return f
}

func numbers(flights []*Flight) []statemachine.BatchNumber {
	var n []statemachine.BatchNumber
	for _, f := range flights {
		n = append(n, f.Number)
	}
	return n
}

func TestNumbersRiseByOneAndNameTheSender(t *testing.T) {
	b := New(self)
	for i := 1; i <= 5; i++ {
		require.EqualValues(t, i, b.Next())
		f := cut(t, b, time.Duration(i)*time.Second, statemachine.Release{Seq: statemachine.Seq(i)})
		require.EqualValues(t, i, f.Number)
		require.Equal(t, clock.Instant(time.Duration(i)*time.Second), f.FirstSend)
		sent, err := statemachine.DecodeBatch(f.Data)
		require.NoError(t, err)
		require.Equal(t, statemachine.Batch{
			Node: self.Node, Directory: self.Directory, Incarnation: self.Incarnation,
			Number: f.Number, Speaks: statemachine.Binary, Wall: 1, Commands: f.Commands,
		}, sent)
		if i > 2 {
			_, _, err := b.Settle(f.Number)
			require.NoError(t, err)
		}
	}
}

func TestABatchWithoutCommandsRenews(t *testing.T) {
	b := New(self)
	f := cut(t, b, 0)
	require.Empty(t, f.Commands)
	sent, err := statemachine.DecodeBatch(f.Data)
	require.NoError(t, err)
	require.Empty(t, sent.Commands)
}

func TestEndingsGoFirstAndEachKindKeepsItsOrder(t *testing.T) {
	b := New(self)
	got := cut(t, b, 0, acquire(1), statemachine.Release{Seq: 9}, acquire(2), statemachine.Cancel{Seq: 3}).Commands
	require.Equal(t, []statemachine.Command{statemachine.Release{Seq: 9}, statemachine.Cancel{Seq: 3}, acquire(1), acquire(2)}, got)
	require.Zero(t, b.Pending())
}

// A full batch of endings leaves no room, and none of them waits behind an Acquire.
func TestEndingsGoFirstHoweverManyThereAre(t *testing.T) {
	b := New(self)
	b.Add(acquire(1))
	for seq := range statemachine.Seq(CommandsMax + 1) {
		b.Add(statemachine.Release{Seq: seq + 2})
	}
	require.NotContains(t, cut(t, b, 0).Commands, acquire(1))
	require.Equal(t, []statemachine.Command{statemachine.Release{Seq: CommandsMax + 2}, acquire(1)}, cut(t, b, 0).Commands)
}

func TestRoomIsForFourFlights(t *testing.T) {
	b := New(self)
	for range FlightsMax {
		require.True(t, b.Room())
		cut(t, b, 0)
	}
	require.False(t, b.Room())
	_, _, err := b.Settle(1)
	require.NoError(t, err)
	require.True(t, b.Room())
}

func TestSettleReturnsTheAppliedFlightAndTheDeadOnesBeforeIt(t *testing.T) {
	b := New(self)
	for i := range 4 {
		cut(t, b, time.Duration(i)*time.Second, acquire(statemachine.Seq(i+1)))
	}
	applied, dead, err := b.Settle(3)
	require.NoError(t, err)
	require.EqualValues(t, 3, applied.Number)
	require.Equal(t, []statemachine.BatchNumber{1, 2}, numbers(dead))
	require.Equal(t, []statemachine.BatchNumber{4}, numbers(b.Flights()))

	t.Run("NothingIsSettledTwice", func(t *testing.T) {
		for _, n := range []statemachine.BatchNumber{1, 2, 3} {
			applied, dead, err := b.Settle(n)
			require.NoError(t, err)
			require.Nil(t, applied)
			require.Empty(t, dead)
		}
		require.Equal(t, []statemachine.BatchNumber{4}, numbers(b.Flights()))
	})
	t.Run("TheLastIsSettledAlone", func(t *testing.T) {
		applied, dead, err := b.Settle(4)
		require.NoError(t, err)
		require.EqualValues(t, 4, applied.Number)
		require.Empty(t, dead)
		require.Empty(t, b.Flights())
	})
}

func TestCoverReturnsAllUpToTheNumber(t *testing.T) {
	b := New(self)
	for range 4 {
		cut(t, b, 0)
	}
	covered, err := b.Cover(0)
	require.NoError(t, err)
	require.Empty(t, covered)
	covered, err = b.Cover(2)
	require.NoError(t, err)
	require.Equal(t, []statemachine.BatchNumber{1, 2}, numbers(covered))
	covered, err = b.Cover(2)
	require.NoError(t, err)
	require.Empty(t, covered)
	covered, err = b.Cover(4)
	require.NoError(t, err)
	require.Equal(t, []statemachine.BatchNumber{3, 4}, numbers(covered))
}

func TestANumberThatWasNeverSentIsAnError(t *testing.T) {
	b := New(self)
	_, err := b.Cover(1)
	require.ErrorIs(t, err, ErrNotSent)
	cut(t, b, 0)
	applied, dead, err := b.Settle(2)
	require.ErrorIs(t, err, ErrNotSent)
	require.ErrorContains(t, err, "number 2, the last one sent is 1")
	require.Nil(t, applied)
	require.Empty(t, dead)
	require.Len(t, b.Flights(), 1, "unchanged")
}

func TestFirstSendIsKnownOfFlightsAndOfTheLastSettled(t *testing.T) {
	b := New(self)
	known := func(n statemachine.BatchNumber) bool {
		send, ok := b.FirstSend(n)
		if ok {
			require.Equal(t, clock.Instant(time.Duration(n)*time.Second), send)
		}
		return ok
	}
	require.False(t, known(0))
	require.False(t, known(1))
	for i := 1; i <= 4; i++ {
		cut(t, b, time.Duration(i)*time.Second).Attempt = 9 // a retry moves nothing
	}
	require.True(t, known(1) && known(4))
	_, _, err := b.Settle(2)
	require.NoError(t, err)
	require.False(t, known(1), "dead")
	require.True(t, known(2) && known(3))
	_, err = b.Cover(3)
	require.NoError(t, err)
	require.False(t, known(2))
	require.True(t, known(3) && known(4))
	require.False(t, known(5))
}

func TestEndingOnlyLeavesTheRestInLineInItsOrder(t *testing.T) {
	b := New(self)
	require.False(t, b.HasEnding())
	b.Add(acquire(1))
	require.False(t, b.HasEnding())
	for _, c := range []statemachine.Command{
		statemachine.Release{Seq: 7}, acquire(2), statemachine.Cancel{Seq: 8}, acquire(3), statemachine.Leave{},
	} {
		b.Add(c)
	}
	require.True(t, b.HasEnding())
	f, err := b.Cut(0, 1, true)
	require.NoError(t, err)
	require.Equal(t, []statemachine.Command{statemachine.Release{Seq: 7}, statemachine.Cancel{Seq: 8}, statemachine.Leave{}}, f.Commands)
	require.False(t, b.HasEnding())
	require.Equal(t, []statemachine.Command{acquire(1), acquire(2), acquire(3)}, cut(t, b, 0).Commands)
}

func TestOnlyCommandsThatGiveUpAreEnding(t *testing.T) {
	for _, c := range []statemachine.Command{statemachine.Release{}, statemachine.Cancel{}, statemachine.Leave{}} {
		require.True(t, Ending(c), "%T", c)
	}
	for _, c := range []statemachine.Command{statemachine.Acquire{}, statemachine.Expire{}, statemachine.Unknown{}} {
		require.False(t, Ending(c), "%T", c)
	}
}

func TestWithdrawTakesOutAnAcquireThatWasNotCut(t *testing.T) {
	b := New(self)
	b.Add(acquire(1))
	b.Add(statemachine.Release{Seq: 2})
	b.Add(acquire(3))
	require.False(t, b.Withdraw(2), "no acquire")
	require.False(t, b.Withdraw(9), "not there")
	require.True(t, b.Withdraw(1))
	require.False(t, b.Withdraw(1))
	require.Equal(t, []statemachine.Command{statemachine.Release{Seq: 2}, acquire(3)}, cut(t, b, 0).Commands)
	require.False(t, b.Withdraw(3), "it was cut")
}

// TestWithdrawnIsAsIfNeverAdded compares with a plain list.
func TestWithdrawnIsAsIfNeverAdded(t *testing.T) {
	seed := *replay
	if seed == 0 {
		seed = time.Now().UnixNano()
	}
	t.Logf("replay with: go test ./coordinator/internal/batcher -run %s -seed %d", t.Name(), seed)
	random := rand.New(rand.NewSource(seed))
	for range 200 {
		b := New(self)
		var plain []statemachine.Command
		seq := statemachine.Seq(0)
		for range 100 {
			switch seq++; random.Intn(8) { // a seq is never used twice
			case 0, 1, 2:
				b.Add(acquire(seq))
				plain = append(plain, acquire(seq))
			case 3:
				b.Add(statemachine.Release{Seq: seq})
				plain = append(plain, statemachine.Release{Seq: seq})
			case 4, 5, 6:
				if len(plain) == 0 {
					continue
				}
				i := random.Intn(len(plain))
				if a, ok := plain[i].(statemachine.Acquire); ok {
					require.True(t, b.Withdraw(a.Seq))
					plain = slices.Delete(plain, i, i+1)
				}
			case 7:
				ending := random.Intn(2) == 0
				f, err := b.Cut(0, 1, ending)
				require.NoError(t, err)
				var want, rest []statemachine.Command
				for _, c := range plain {
					if Ending(c) {
						want = append(want, c)
					} else {
						rest = append(rest, c)
					}
				}
				if !ending {
					want, rest = append(want, rest...), nil
				}
				require.Equal(t, want, f.Commands)
				plain = rest
			}
			require.Equal(t, len(plain), b.Pending())
			require.Equal(t, slices.ContainsFunc(plain, Ending), b.HasEnding())
		}
	}
}

// TestWithdrawCostsTheSameHoweverManyArePending counts what is moved: after
// each half of the pending commands has gone, the rest is put together once.
func TestWithdrawCostsTheSameHoweverManyArePending(t *testing.T) {
	const burst = 200_000
	b := New(self)
	for seq := range statemachine.Seq(burst) {
		b.Add(acquire(seq + 1))
	}
	moved := 0
	for seq := statemachine.Seq(burst); seq > 0; seq-- { // the worst order for a search from the front
		before := len(b.acquires)
		require.True(t, b.Withdraw(seq))
		if len(b.acquires) != before {
			moved += before
		}
	}
	require.Less(t, moved, 3*burst)
	require.Zero(t, b.Pending())
	require.Empty(t, b.acquires)
}

func TestABatchHasBoundedCommands(t *testing.T) {
	b := New(self)
	for seq := range statemachine.Seq(2*CommandsMax + 1) {
		b.Add(statemachine.Release{Seq: seq + 1})
	}
	next := statemachine.Seq(1)
	for _, want := range []int{CommandsMax, CommandsMax, 1, 0} {
		f := cut(t, b, 0)
		require.Len(t, f.Commands, want)
		for _, c := range f.Commands {
			require.Equal(t, statemachine.Release{Seq: next}, c)
			next++
		}
	}
	require.LessOrEqual(t, CommandsMax, statemachine.CommandsMax)
}

// biggest is an acquire at all bounds of the machine.
func biggest(seq statemachine.Seq) statemachine.Acquire {
	keys := make([]string, statemachine.ClaimsMax)
	for i := range keys {
		keys[i] = fmt.Sprintf("%03d", i) + strings.Repeat("k", statemachine.KeyBytesMax-3)
	}
	a := acquire(seq, keys...)
	a.TTL, a.Limit, a.QueueMax = 1<<62, 1<<62, 1<<63
	a.RequestID = strings.Repeat("r", statemachine.RequestIDBytesMax)
	a.Metadata = strings.Repeat("m", statemachine.MetadataBytesMax)
	return a
}

func TestABatchHasBoundedBytes(t *testing.T) {
	one, err := statemachine.AppendBatch(nil, statemachine.Batch{Commands: []statemachine.Command{biggest(1 << 63)}})
	require.NoError(t, err)
	b := New(self)
	const asked = 20
	for seq := range statemachine.Seq(asked) {
		b.Add(biggest(1<<63 + seq))
	}
	taken := 0
	for b.Pending() > 0 {
		f := cut(t, b, 0)
		require.NotEmpty(t, f.Commands)
		require.LessOrEqual(t, len(f.Data), BytesMax+len(one))
		taken += len(f.Commands)
		_, _, err := b.Settle(f.Number)
		require.NoError(t, err)
	}
	require.Equal(t, asked, taken)
	require.Less(t, BytesMax+len(one), statemachine.BatchBytesMax)
}

func TestSizeIsNotUnderestimated(t *testing.T) {
	const large = 1<<64 - 1
	empty, err := statemachine.AppendBatch(nil, statemachine.Batch{})
	require.NoError(t, err)
	small := acquire(large)
	small.TTL, small.Limit, small.QueueMax = 1<<62, 1<<62, large
	for _, c := range []statemachine.Command{
		statemachine.Release{Seq: large}, statemachine.Cancel{Seq: large}, statemachine.Leave{}, small, biggest(large),
	} {
		data, err := statemachine.AppendBatch(nil, statemachine.Batch{Commands: []statemachine.Command{c}})
		require.NoError(t, err)
		require.GreaterOrEqual(t, sizeOf(c), len(data)-len(empty), "%T", c)
	}
}

func TestABatchThatCantBeEncodedIsAnErrorAndUsesNoNumber(t *testing.T) {
	b := New(self)
	b.Add(acquire(1, strings.Repeat("k", statemachine.KeyBytesMax+1)))
	_, err := b.Cut(0, 1, false)
	require.ErrorContains(t, err, "batch 1")
	require.Zero(t, b.Pending(), "it never will be encoded")
	require.Empty(t, b.Flights())
	require.EqualValues(t, 1, cut(t, b, 0, acquire(2)).Number)
}

// TestMemoryIsGivenBack: nothing that was settled, withdrawn or cut is held on
// to by the rest of a slice.
func TestMemoryIsGivenBack(t *testing.T) {
	large := func(seq statemachine.Seq) statemachine.Command {
		a := acquire(seq)
		a.Metadata = strings.Repeat("m", 1<<10)
		for i := range 100 {
			a.Claims = append(a.Claims, statemachine.Claim{Key: fmt.Sprintf("l%0500d", i), Mode: statemachine.Exclusive})
		}
		return a
	}
	// Far less than what is to be given back in each case, and more than what
	// the runtime itself takes meanwhile.
	const most = 1 << 18
	t.Run("OfFlightsThatAreSettled", func(t *testing.T) {
		b := New(self)
		before := usagetest.Heap()
		for seq := range statemachine.Seq(FlightsMax) {
			cut(t, b, 0, large(2*seq+1), large(2*seq+2))
		}
		_, err := b.Cover(FlightsMax - 1)
		require.NoError(t, err)
		_, _, err = b.Settle(FlightsMax)
		require.NoError(t, err)
		require.Less(t, usagetest.Heap()-before, int64(most))
		runtime.KeepAlive(b)
	})
	t.Run("OfAcquiresThatAreWithdrawn", func(t *testing.T) {
		b := New(self)
		b.Add(acquire(1))
		before := usagetest.Heap()
		for seq := range statemachine.Seq(100) {
			b.Add(large(seq + 2))
		}
		for seq := range statemachine.Seq(100) {
			require.True(t, b.Withdraw(seq+2))
		}
		require.Less(t, usagetest.Heap()-before, int64(most))
		runtime.KeepAlive(b)
	})
	t.Run("OfABurst", func(t *testing.T) {
		b := New(self)
		before := usagetest.Heap()
		for seq := range statemachine.Seq(100_000) {
			b.Add(statemachine.Release{Seq: seq})
		}
		for b.Pending() > 0 {
			_, _, err := b.Settle(cut(t, b, 0).Number)
			require.NoError(t, err)
		}
		require.Less(t, usagetest.Heap()-before, int64(most))
		runtime.KeepAlive(b)
	})
	t.Run("OfAllThatIsDropped", func(t *testing.T) {
		b := New(self)
		b.Add(acquire(1))
		b.DropPending()
		require.Zero(t, b.Pending())
		require.Empty(t, cut(t, b, 0).Commands)
	})
}
