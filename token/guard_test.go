package token_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

func TestGuardAccept(t *testing.T) {
	t.Run("KeepsTheGreatestAndRefusesLower", func(t *testing.T) {
		guard := token.NewGuard()
		require.Zero(t, guard.Highest("disk"))
		for _, given := range []token.Token{3, 3, 5, mustNew(t, 1, 1)} {
			require.NoError(t, guard.Accept("disk", given))
			require.Equal(t, given, guard.Highest("disk"))
		}
		err := guard.Accept("disk", mustNew(t, 0, token.CounterMax))
		require.ErrorIs(t, err, token.ErrStale, "a lower epoch, however great its counter")
		require.Equal(t, mustNew(t, 1, 1), guard.Highest("disk"))
	})
	t.Run("NamesResourceAndBothTokens", func(t *testing.T) {
		guard := token.NewGuard()
		require.NoError(t, guard.Accept("disk", 34))
		err := guard.Accept("disk", 33)
		var stale *token.StaleError
		require.ErrorAs(t, err, &stale)
		require.Equal(t, token.StaleError{Resource: "disk", Given: 33, Highest: 34}, *stale)
		require.EqualError(t, err, `token: stale: resource "disk" refuses token 33, it has accepted 34`)
		require.NotErrorIs(t, err, token.ErrInvalid)
	})
	t.Run("AcceptsAnEqualTokenForEver", func(t *testing.T) {
		guard := token.NewGuard()
		for range 3 {
			require.NoError(t, guard.Accept("disk", 7))
		}
	})
	t.Run("ResourcesAreIndependent", func(t *testing.T) {
		guard := token.NewGuard()
		require.NoError(t, guard.Accept("a", 9))
		require.NoError(t, guard.Accept("b", 1))
		require.Equal(t, token.Token(9), guard.Highest("a"))
		require.Equal(t, token.Token(1), guard.Highest("b"))
	})
	t.Run("ZeroGuardIsReady", func(t *testing.T) {
		var guard token.Guard
		require.Zero(t, guard.Highest("disk"))
		require.NoError(t, guard.Accept("disk", 2))
		require.ErrorIs(t, guard.Accept("disk", 1), token.ErrStale)
	})
	t.Run("LongResourceNamesAreClippedInErrors", func(t *testing.T) {
		guard := token.NewGuard()
		name := string(make([]byte, 1<<16))
		require.NoError(t, guard.Accept(name, 2))
		require.Less(t, len(guard.Accept(name, 1).Error()), 500)
	})
}

func TestGuardAcceptOnce(t *testing.T) {
	guard := token.NewGuard()
	require.NoError(t, guard.AcceptOnce("disk", 4))
	err := guard.AcceptOnce("disk", 4)
	require.ErrorIs(t, err, token.ErrStale)
	require.EqualError(t, err, `token: stale: resource "disk" has accepted token 4 already, `+
		`now it takes only one greater than 4`)
	require.ErrorIs(t, guard.AcceptOnce("disk", 3), token.ErrStale)
	require.NoError(t, guard.AcceptOnce("disk", 5))
	require.NoError(t, guard.Accept("disk", 5), "the two kinds of check share what they keep")
	require.ErrorIs(t, guard.AcceptOnce("disk", 5), token.ErrStale)
}

func TestGuardRefusesBadArgumentsAndStaysUnchanged(t *testing.T) {
	wrote := func() error { return errors.New("the write must not be called") }
	for name, check := range map[string]func(*token.Guard, string, token.Token) error{
		"Accept":     (*token.Guard).Accept,
		"AcceptOnce": (*token.Guard).AcceptOnce,
		"Do":         func(g *token.Guard, r string, t token.Token) error { return g.Do(r, t, wrote) },
		"DoOnce":     func(g *token.Guard, r string, t token.Token) error { return g.DoOnce(r, t, wrote) },
	} {
		t.Run(name, func(t *testing.T) {
			guard := token.NewGuard()
			err := check(guard, "", 5)
			require.ErrorIs(t, err, token.ErrInvalid)
			require.ErrorContains(t, err, "no name")
			err = check(guard, "disk", 0)
			require.ErrorIs(t, err, token.ErrInvalid)
			require.ErrorContains(t, err, `"disk"`)
			for value, bad := range notTokens {
				require.ErrorIs(t, check(guard, "disk", bad), token.ErrInvalid, value)
			}
			require.Zero(t, guard.Highest("disk"))
			require.NoError(t, guard.Accept("disk", 1), "still nothing accepted")
		})
	}
	t.Run("nil write", func(t *testing.T) {
		guard := token.NewGuard()
		require.ErrorIs(t, guard.Do("disk", 5, nil), token.ErrInvalid)
		require.ErrorIs(t, guard.DoOnce("disk", 5, nil), token.ErrInvalid)
		require.Zero(t, guard.Highest("disk"))
	})
}

func TestGuardDo(t *testing.T) {
	t.Run("RunsTheWriteOnceAndReturnsItsError", func(t *testing.T) {
		guard := token.NewGuard()
		calls := 0
		failed := errors.New("disk full")
		require.NoError(t, guard.Do("disk", 5, func() error { calls++; return nil }))
		require.Same(t, failed, guard.Do("disk", 5, func() error { calls++; return failed }))
		require.Equal(t, 2, calls)
	})
	t.Run("DoesNotRunTheWriteOfALowerToken", func(t *testing.T) {
		guard := token.NewGuard()
		require.NoError(t, guard.Accept("disk", 5))
		err := guard.Do("disk", 4, func() error { t.Error("stale write ran"); return nil })
		require.ErrorIs(t, err, token.ErrStale)
	})
	t.Run("KeepsTheTokenBeforeTheWriteRuns", func(t *testing.T) {
		guard := token.NewGuard()
		require.NoError(t, guard.Do("disk", 5, func() error {
			require.Equal(t, token.Token(5), guard.Highest("disk"), "and Highest does not wait for the write")
			return nil
		}))
	})
	t.Run("KeepsTheTokenOfAWriteThatFailed", func(t *testing.T) {
		guard := token.NewGuard()
		halves := [2]token.Token{1, 1}
		require.Error(t, guard.Do("disk", 5, func() error {
			halves[0] = 5
			return errors.New("failed half-way")
		}))
		err := guard.Do("disk", 4, func() error { halves = [2]token.Token{4, 4}; return nil })
		require.ErrorIs(t, err, token.ErrStale, "a paused writer must not overwrite half of 5's work")
		require.NoError(t, guard.Do("disk", 5, func() error { halves = [2]token.Token{5, 5}; return nil }),
			"the owner may try again")
		require.Equal(t, [2]token.Token{5, 5}, halves)
	})
	t.Run("KeepsTheTokenAndUnlocksWhenTheWritePanics", func(t *testing.T) {
		guard := token.NewGuard()
		require.PanicsWithValue(t, "boom", func() { _ = guard.Do("disk", 5, func() error { panic("boom") }) })
		require.Equal(t, token.Token(5), guard.Highest("disk"))
		require.ErrorIs(t, guard.Accept("disk", 4), token.ErrStale)
		require.NoError(t, guard.Accept("disk", 6))
	})
	t.Run("UnlocksWhenTheWriteLeavesByGoexit", func(t *testing.T) {
		guard := token.NewGuard()
		left := make(chan struct{})
		go func() {
			defer close(left)
			_ = guard.Do("disk", 5, func() error { runtime.Goexit(); return nil })
		}()
		<-left
		require.ErrorIs(t, guard.Accept("disk", 4), token.ErrStale)
		require.NoError(t, guard.Accept("disk", 5))
	})
	t.Run("OtherResourcesDoNotWait", func(t *testing.T) {
		guard := token.NewGuard()
		require.NoError(t, guard.Do("a", 5, func() error {
			// Would hang if the write of "a" held more than the lock of "a".
			return guard.Do("b", 1, func() error { return guard.Accept("c", 1) })
		}))
	})
	t.Run("OnceUsesUpTheTokenOfAFailedWrite", func(t *testing.T) {
		guard := token.NewGuard()
		require.Error(t, guard.DoOnce("disk", 5, func() error { return errors.New("no") }))
		err := guard.DoOnce("disk", 5, func() error { t.Error("second write ran"); return nil })
		require.ErrorIs(t, err, token.ErrStale)
		require.NoError(t, guard.DoOnce("disk", 6, func() error { return nil }))
	})
}

// Writers with random tokens race for a few resources. The cells have no lock
// of their own: if check and write were not one step, the race detector or a
// falling token would show it.
func TestGuardDoMakesCheckAndWriteOneStep(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	const writers, writes, resources = 8, 400, 3
	guard := token.NewGuard()
	var cells [resources]struct{ written, half token.Token }
	var running sync.WaitGroup
	for writer := range writers {
		running.Add(1)
		go func() {
			defer running.Done()
			random := rand.New(rand.NewPCG(seed, uint64(writer)))
			for i := range writes {
				resource := random.IntN(resources)
				given := token.Token(1 + i + random.IntN(writes/4))
				_ = guard.Do(fmt.Sprint(resource), given, func() error {
					cell := &cells[resource]
					if cell.written != cell.half || cell.written > given {
						t.Errorf("seed %d: token %d found %d and %d", seed, given, cell.written, cell.half)
					}
					cell.half = given
					runtime.Gosched()
					cell.written = given
					return nil
				})
				// An Accept that did not wait for a running write would let a
				// greater token in before that write ends.
				if random.IntN(4) == 0 {
					_ = guard.Accept(fmt.Sprint(resource), given)
				}
			}
		}()
	}
	running.Wait()
	for resource := range cells {
		require.GreaterOrEqual(t, guard.Highest(fmt.Sprint(resource)), cells[resource].written, "seed %d", seed)
	}
}

// A greater token that comes while a lower one is writing must wait: had it
// been accepted, its owner could finish before the lower write lands.
func TestGuardAcceptWaitsForARunningWrite(t *testing.T) {
	for _, accept := range []func(*token.Guard, string, token.Token) error{
		(*token.Guard).Accept, (*token.Guard).AcceptOnce,
	} {
		guard := token.NewGuard()
		var landed bool // by the write of 5; unsynchronised on purpose
		accepted := make(chan struct{})
		require.NoError(t, guard.Do("disk", 5, func() error {
			go func() {
				defer close(accepted)
				if err := accept(guard, "disk", 6); err != nil {
					t.Error(err)
				}
				if !landed {
					t.Error("6 was accepted while 5 was writing")
				}
			}()
			for range 1000 {
				runtime.Gosched()
			}
			landed = true
			return nil
		}))
		<-accepted
		require.Equal(t, token.Token(6), guard.Highest("disk"))
	}
}

// The guard must agree with the obvious map after every call.
func TestGuardAgreesWithANaiveModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	guard := token.NewGuard()
	model := map[string]token.Token{}
	for step := range 20000 {
		resource := fmt.Sprint(random.IntN(4))
		given := token.Token(random.IntN(step/100 + 2))
		once := random.IntN(2) == 0
		fails := random.IntN(3) == 0
		var err error
		ran := false
		write := func() error {
			ran = true
			if fails {
				return errors.New("failed")
			}
			return nil
		}
		if once {
			err = guard.DoOnce(resource, given, write)
		} else {
			err = guard.Do(resource, given, write)
		}
		highest := model[resource]
		want := given > highest || (given == highest && !once)
		if given == 0 {
			want = false
			require.ErrorIs(t, err, token.ErrInvalid, "seed %d step %d", seed, step)
		} else if !want {
			require.ErrorIs(t, err, token.ErrStale, "seed %d step %d", seed, step)
		}
		require.Equal(t, want, ran, "seed %d step %d", seed, step)
		if want {
			require.Equal(t, fails, err != nil, "seed %d step %d", seed, step)
			model[resource] = given
		}
		for name, highest := range model {
			require.Equal(t, highest, guard.Highest(name), "seed %d step %d", seed, step)
		}
	}
}
