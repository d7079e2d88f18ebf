package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

func TestCounter(t *testing.T) {
	ada, ben := contender{"Ada", 1}, contender{"Ben", 2}
	line := []contender{ada, ben}

	t.Run("RisingTokensInOrderAreFine", func(t *testing.T) {
		n := &counter{}
		for i, c := range line {
			n.enter(c, token.Token(i+2))
			n.leave()
		}
		require.NoError(t, n.check(1, line))
	})
	t.Run("TwoAtOnceAreFoundOut", func(t *testing.T) {
		n := &counter{}
		n.enter(ada, 2)
		n.enter(ben, 3)
		require.ErrorContains(t, n.check(1, line), "two owned the key at once")
	})
	t.Run("PassingTheLineIsFoundOut", func(t *testing.T) {
		n := &counter{}
		for i, c := range []contender{ben, ada} {
			n.enter(c, token.Token(i+2))
			n.leave()
		}
		require.ErrorContains(t, n.check(1, line), "the line was Ada, Ben, but served were Ben, Ada")
	})
	t.Run("ATokenThatDoesNotRiseIsFoundOut", func(t *testing.T) {
		n := &counter{}
		for _, c := range line {
			n.enter(c, 2)
			n.leave()
		}
		require.ErrorContains(t, n.check(1, line), "Ben got token 2 after a grant with 2")
		require.ErrorContains(t, n.check(2, line), "Ada got token 2 after a grant with 2")
	})
}
