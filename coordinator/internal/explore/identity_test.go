package explore

import (
	"flag"
	"fmt"
	"math/rand"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/statemachine"
)

var seed = flag.Int64("seed", 0, "the seed of the random walks; 0: a new one")

// found are seeds of walks that once told apart what stood for one another. A
// walk depends on those before it on the same search, so new ones come last.
var found = []int64{
	1796049563164067112, // an office kept what it had proposed for a node without requests
}

// TestOneStandsForAll walks at random, twice at once: with things that a
// search has met before and that stand for all with their identity, and with
// the things themselves, each made from the one before. Both have to offer the
// same choices, which come to the same.
func TestOneStandsForAll(t *testing.T) {
	if *seed == 0 {
		*seed = time.Now().UnixNano()
	}
	t.Logf("replay with: go test ./coordinator/internal/explore -run OneStandsForAll -seed %d", *seed)
	for _, cfg := range Worlds {
		t.Run(cfg.Name, func(t *testing.T) {
			met := newSearch(cfg)
			met.walk(func(states int) bool { return states > 20000 })
			for _, n := range append(slices.Clone(found), *seed) {
				random := rand.New(rand.NewSource(n))
				merged := 0
				for range 20 {
					apart := newExplorer(cfg)
					apart.lives.all.apart, apart.offices.all.apart = true, true
					merged += walkTwice(t, random, met.explorer, apart)
				}
				require.NotZero(t, merged, "the walks of seed %d met nothing that stood for something else", n)
			}
		})
	}
}

// walkTwice returns how often something stood for something else.
func walkTwice(t *testing.T, random *rand.Rand, x, y *explorer) (merged int) {
	s, r := x.first(), y.first()
	for range 60 {
		mine, theirs := choices(x, &s), choices(y, &r)
		require.Equal(t, theirs, mine)
		if len(mine) == 0 {
			return merged
		}
		n := random.Intn(len(mine))
		was := len(x.lives.all.all)
		did, same := x.do(&s, x.actions(&s)[n]), y.do(&r, y.actions(&r)[n])
		require.Equal(t, same, did, mine[n])
		if did.beyond {
			return merged
		}
		if was == len(x.lives.all.all) {
			merged++
		}
		for i := range s.nodes {
			require.Equal(t, y.lives.identity(y.lives.all.at(r.nodes[i].life).process),
				x.lives.identity(x.lives.all.at(s.nodes[i].life).process), mine[n])
			if office := s.nodes[i].office; office != closed {
				require.Equal(t, y.offices.identity(y.offices.all.at(r.nodes[i].office)),
					x.offices.identity(x.offices.all.at(office)), mine[n])
			}
		}
	}
	return merged
}

func choices(x *explorer, s *state) (texts []string) {
	for _, a := range x.actions(s) {
		texts = append(texts, x.describe(s, a))
	}
	return texts
}

// TestACloneGoesItsOwnWay gives inputs to a clone and to its original.
func TestACloneGoesItsOwnWay(t *testing.T) {
	b := newBook()
	identity := (&lives{t: 8}).identity
	p := newProcess(1, 1, a("a", "b"), 8)
	p.ask(1, 8)
	p.Hub.Flush(p.Now)
	p.carryOut(b, 8)

	before := identity(p)
	q := p.copy()
	require.Equal(t, before, identity(q), "a clone is what its original is")

	q.ask(2, 8)
	q.Now = q.Now.Add(3)
	q.Hub.Flush(q.Now)
	q.carryOut(b, 8)
	after := identity(q)
	require.NotEqual(t, before, after)
	require.Equal(t, before, identity(p), "the original stays as it was")
	require.Equal(t, statemachine.Seq(1), p.Seq, "each gives its own numbers")
	require.Equal(t, statemachine.Seq(2), q.Seq)

	p.ask(2, 8)
	p.Now = p.Now.Add(3)
	p.Hub.Flush(p.Now)
	p.carryOut(b, 8)
	require.Equal(t, after, identity(p), "the same inputs come to the same")
}

// TestIdentityHasAges: the same situation at another time is the same, and one
// that differs in an age is not.
func TestIdentityHasAges(t *testing.T) {
	born := func(after, age time.Duration) []byte {
		p := newProcess(1, 1, a("a"), 8)
		p.Now = p.Now.Add(after)
		p.Hub.Flush(p.Now)
		p.ask(1, 8)
		p.Hub.Flush(p.Now)
		p.carryOut(newBook(), 8)
		p.Now = p.Now.Add(age)
		return (&lives{t: 8}).identity(p)
	}
	require.Equal(t, born(0, 1), born(1000, 1))
	require.NotEqual(t, born(0, 1), born(0, 2))
	require.Equal(t, born(0, 16), born(0, 17), "long ago is long ago")
}

// TestStateIsItsBytes: a state has no padding, whose bytes would be part of its
// identity.
func TestStateIsItsBytes(t *testing.T) {
	require.Equal(t, reflect.TypeFor[state]().Size(), sizeOf(t, reflect.TypeFor[state]()))
}

// sizeOf returns the size of what a type has, padding left out.
func sizeOf(t *testing.T, of reflect.Type) (size uintptr) {
	switch of.Kind() {
	case reflect.Struct:
		for i := range of.NumField() {
			size += sizeOf(t, of.Field(i).Type)
		}
		return size
	case reflect.Array:
		return uintptr(of.Len()) * sizeOf(t, of.Elem())
	case reflect.Uint32, reflect.Uint8, reflect.Bool:
		return of.Size()
	}
	require.Fail(t, fmt.Sprintf("a %s is more than its bytes", of))
	return 0
}
