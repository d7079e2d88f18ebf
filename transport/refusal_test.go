package transport_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
)

func TestAnswerOnTheWire(t *testing.T) {
	t.Run("IsTheGoldenBytes", func(t *testing.T) {
		// The format has been in use since it was written down here, so these
		// texts never change.
		require.Equal(t, "020000", hex.EncodeToString(transport.AppendAnswer(nil, 0, "")))
		require.Equal(t, "0201006e6f", hex.EncodeToString(transport.AppendAnswer(nil, transport.CodeAdmit, "no")))
	})
	t.Run("BringsTheReason", func(t *testing.T) {
		peer := transport.Peer{Hello: hello(7), Address: "b:7400"}
		refused, err := transport.ParseAnswer(transport.AppendAnswer(nil, 300, "a copy: ü"), peer)
		require.NoError(t, err)
		require.Equal(t, &transport.RefusedError{Peer: peer, ByPeer: true, Code: 300, Reason: "a copy: ü"}, refused)
	})
	t.Run("IsYesWithoutACode", func(t *testing.T) {
		refused, err := transport.ParseAnswer(transport.AppendAnswer(nil, 0, ""), transport.Peer{})
		require.NoError(t, err)
		require.Nil(t, refused)
	})
	t.Run("IsRefusedWhenItIsNone", func(t *testing.T) {
		for _, wire := range []string{"", "\x02", "\x02\x00", "\x01\x00\x00", "\x02\x00\x00no", "\x02\x01\x00" + strings.Repeat("x", 513)} {
			_, err := transport.ParseAnswer([]byte(wire), transport.Peer{})
			require.ErrorIs(t, err, transport.ErrAnswer, "%q", wire)
		}
	})
	t.Run("HoldsReasonsToTheirBound", func(t *testing.T) {
		for length := 500; length < 520; length++ {
			wire := transport.AppendAnswer(nil, transport.CodeAdmit, strings.Repeat("x", length)+"üü")
			refused, err := transport.ParseAnswer(wire, transport.Peer{})
			require.NoError(t, err)
			require.LessOrEqual(t, len(refused.Reason), transport.ReasonBytesMax)
			require.GreaterOrEqual(t, len(refused.Reason), min(length, transport.ReasonBytesMax-1))
			require.True(t, utf8.ValidString(refused.Reason), "cut inside a letter: %q", refused.Reason)
		}
	})
	t.Run("KeepsControlCharactersOutOfLogs", func(t *testing.T) {
		wire := append(transport.AppendAnswer(nil, transport.CodeAdmit, ""), "a\nb\x1b[2J\xff\x00c"...)
		refused, err := transport.ParseAnswer(wire, transport.Peer{})
		require.NoError(t, err)
		require.Equal(t, "a b [2J  c", refused.Reason)
	})
}

func TestCodesAreOfTheWireFormat(t *testing.T) {
	for code, text := range map[transport.Code]string{
		1: "handshake", 2: "certificate", 3: "identity", 4: "cluster", 5: "protocol", 6: "links", 256: "admit", 300: "code 300",
	} {
		require.Equal(t, text, code.String())
	}
	require.EqualValues(t, 256, transport.CodeAdmit)
}

func TestRefusedError(t *testing.T) {
	cause := errors.New("it is a copy")
	ours := &transport.RefusedError{
		Peer: transport.Peer{Hello: hello(2), Address: "b:7400"}, Code: transport.CodeAdmit, Reason: cause.Error(), Err: cause,
	}
	require.EqualError(t, ours, `transport: refused node 2 at "b:7400": it is a copy (admit)`)
	require.ErrorIs(t, ours, transport.ErrRefused)
	require.ErrorIs(t, ours, cause)
	require.NotErrorIs(t, ours, transport.ErrUnreachable)

	theirs := &transport.RefusedError{ByPeer: true, Code: transport.CodeCluster, Reason: "no"}
	require.EqualError(t, fmt.Errorf("dial: %w", theirs), "dial: transport: refused by a node: no (cluster)")
	require.ErrorIs(t, theirs, transport.ErrRefused)
}
