package history_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/locktest/history"
	"github.com/palisade-go/palisade/token"
)

// The instants of the histories here are after a long time since the start of
// the machine, which nobody wants to read.
func at(ms int) history.Instant {
	return history.Instant(90*time.Hour + time.Duration(ms)*time.Millisecond)
}

// In a long history the error shows the operation that broke the contract, with
// what came right before it, and none of what is far away.
func TestCheckShowsWhereALongHistoryBreaks(t *testing.T) {
	var records []history.Record
	for i := range 300 {
		n := token.Token(i + 1)
		records = append(records,
			granted(at(10*i), at(10*i+1), "a", n, "k"), ended(at(10*i+2), at(10*i+3), "a", n, "k"),
			wrote(at(10*i), at(10*i+1), history.Done, n, "x"), read(at(10*i+2), at(10*i+3), "x"))
	}
	for i := range 7 { // requests that wait in line meanwhile, and are served last
		n := token.Token(1000 + i)
		back := 5000 + 10*i
		records = append(records, granted(at(1000+i), at(back), "waiter", n, "k"), ended(at(back+1), at(back+2), "waiter", n, "k"))
	}
	slices.Reverse(records)
	require.NoError(t, history.Check(records, time.Minute))

	for i, r := range records {
		switch {
		case r.Kind == history.End && r.Tokens[0] == 150:
			records[i].Call, records[i].Return, records[i].Outcome = at(1502), never, history.Unknown
		case r.Kind == history.Read && r.Call == at(1502):
			records[i].Value = "y"
		}
	}
	err := history.Check(records, time.Minute)
	require.ErrorIs(t, err, history.ErrViolation)
	require.Equal(t, `history: the contract was broken: resource ["r"]: 301 of 600 operations could be put in order, and the last of these are
  [1.452000, 1.453000] r: read "r" "x": done
  [1.460000, 1.461000] w: write "r" 147 "x": done
  [1.462000, 1.463000] r: read "r" "x": done
  [1.470000, 1.471000] w: write "r" 148 "x": done
  [1.472000, 1.473000] r: read "r" "x": done
  [1.480000, 1.481000] w: write "r" 149 "x": done
  [1.482000, 1.483000] r: read "r" "x": done
  [1.490000, 1.491000] w: write "r" 150 "x": done
  [1.492000, 1.493000] r: read "r" "x": done
  [1.500000, 1.501000] w: write "r" 151 "x": done
then it is: {value "x", greatest token 151}
and no order goes on with:
  [1.502000, 1.503000] r: read "r" "y": done
Visualize draws all of it
history: the contract was broken: key ["k"]: 299 of 614 operations could be put in order, and the last of these are
  [1.442000, 1.443000] a: end ["k"] [145]: done
  [1.450000, 1.451000] a: acquire ["k"] [146]: done
  [1.452000, 1.453000] a: end ["k"] [146]: done
  [1.460000, 1.461000] a: acquire ["k"] [147]: done
  [1.462000, 1.463000] a: end ["k"] [147]: done
  [1.470000, 1.471000] a: acquire ["k"] [148]: done
  [1.472000, 1.473000] a: end ["k"] [148]: done
  [1.480000, 1.481000] a: acquire ["k"] [149]: done
  [1.482000, 1.483000] a: end ["k"] [149]: done
  [1.490000, 1.491000] a: acquire ["k"] [150]: done
then it is: "k" held by 150, last token 150
and no order goes on with:
  [1.500000, 1.501000] a: acquire ["k"] [151]: done
  [1.000000, 5.000000] waiter: acquire ["k"] [1000]: done
  [1.001000, 5.010000] waiter: acquire ["k"] [1001]: done
  [1.002000, 5.020000] waiter: acquire ["k"] [1002]: done
  [1.003000, 5.030000] waiter: acquire ["k"] [1003]: done
  and 3 more
the end of what was held came later:
  [1.502000, …] a: end ["k"] [150]: unknown
Visualize draws all of it`, err.Error())
}

// Of orders that come as far as each other the same one is told each time.
func TestCheckTellsTheSameEachTime(t *testing.T) {
	var records []history.Record
	for i := range 6 { // any of them can be first, and none second
		records = append(records, granted(at(0), at(1), "a", token.Token(i+1), "k"))
	}
	first := history.Check(records, time.Minute)
	require.ErrorIs(t, first, history.ErrViolation)
	for range 10 {
		require.Equal(t, first.Error(), history.Check(records, time.Minute).Error())
	}
}

func TestCheckShowsWhatCouldNotBeFirst(t *testing.T) {
	err := history.Check([]history.Record{read(at(0), at(1), "z"), read(at(2), at(3), ""), busy(at(9000), at(9001), "k")}, time.Minute)
	require.ErrorIs(t, err, history.ErrViolation)
	require.Equal(t, `history: the contract was broken: busy, and nobody was in the way:
  [9.000000, 9.001000] t: try ["k"] []: busy
history: the contract was broken: resource ["r"]: 0 of 2 operations could be put in order
no order begins with:
  [0.000000, 0.001000] r: read "r" "z": done
Visualize draws all of it`, err.Error())
}
