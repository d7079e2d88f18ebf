package transport_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
)

// goldenHello has a different byte in each place of its wire form.
func goldenHello() transport.Hello {
	h := transport.Hello{
		Node: 0xa1a2a3a4a5a6a7a8, Incarnation: 0xb1b2b3b4b5b6b7b8,
		Protocol: transport.Versions{Lowest: 0xc1c2, Highest: 0xd1d2}, Born: "born",
	}
	for i := range h.Cluster {
		h.Cluster[i] = byte(0x10 + i)
	}
	for i := range h.Directory {
		h.Directory[i] = byte(0x50 + i)
	}
	for i := range h.Start {
		h.Start[i] = byte(0x70 + i)
	}
	return h
}

// goldenHelloHex is the wire form. Once it is released this text never changes:
// another form goes with another number and a text of its own.
const goldenHelloHex = "0101" + // hello, form 1
	"101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f" +
	"a1a2a3a4a5a6a7a8" +
	"505152535455565758595a5b5c5d5e5f" +
	"b1b2b3b4b5b6b7b8" +
	"707172737475767778797a7b7c7d7e7f" +
	"c1c2" + "d1d2" +
	"0001" + "0006" + "613a37343030" + // field 1, 6 bytes, a:7400
	"0002" + "0004" + "626f726e" // field 2, 4 bytes, born

func TestHelloOnTheWire(t *testing.T) {
	golden, err := hex.DecodeString(goldenHelloHex)
	require.NoError(t, err)
	t.Run("IsTheGoldenBytes", func(t *testing.T) {
		require.Equal(t, goldenHelloHex, hex.EncodeToString(transport.AppendHello(nil, goldenHello(), "a:7400")))
	})
	t.Run("AndIsReadFromThem", func(t *testing.T) {
		h, from, err := transport.ParseHello(golden)
		require.NoError(t, err)
		require.Equal(t, goldenHello(), h)
		require.Equal(t, "a:7400", from)
	})
	t.Run("MayComeWithoutAnAddress", func(t *testing.T) {
		h, from, err := transport.ParseHello(transport.AppendHello(nil, goldenHello(), ""))
		require.NoError(t, err)
		require.Equal(t, goldenHello(), h)
		require.Empty(t, from)
	})
	t.Run("MayComeWithoutBorn", func(t *testing.T) {
		want := goldenHello()
		want.Born = ""
		h, from, err := transport.ParseHello(transport.AppendHello(nil, want, "a:7400"))
		require.NoError(t, err)
		require.Equal(t, want, h)
		require.Equal(t, "a:7400", from)
	})
	t.Run("HasRoomForTheLongestOfEverything", func(t *testing.T) {
		want := goldenHello()
		want.Born = strings.Repeat("\xff", transport.BornBytesMax)
		long := strings.Repeat("x", 512)
		h, from, err := transport.ParseHello(transport.AppendHello(nil, want, long))
		require.NoError(t, err)
		require.Equal(t, want, h)
		require.Equal(t, long, from)
	})
	t.Run("IsRefusedWhenCutAnywhere", func(t *testing.T) {
		whole := map[int]bool{86: true, 86 + 4 + 6: true} // without its fields, and with the first alone
		for length := range golden {
			_, _, err := transport.ParseHello(golden[:length])
			require.Equal(t, !whole[length], errors.Is(err, transport.ErrHello), "%d bytes: %v", length, err)
		}
	})
}

// field is the wire form of a field.
func field(tag uint16, value string) string {
	wire := binary.BigEndian.AppendUint16(nil, tag)
	return string(binary.BigEndian.AppendUint16(wire, uint16(len(value)))) + value
}

func TestFieldsOfAHello(t *testing.T) {
	require.Equal(t, 2048, transport.BornBytesMax)
	const maximum = transport.HelloBytesMax - 86 - 4
	long := strings.Repeat("x", 2048)
	for _, c := range []struct {
		statement string
		fields    string
		wrong     string // empty: it is taken
		from      string
		born      string
	}{
		{"OneThatIsNotKnownIsSkipped", field(1, "a:1") + field(3, "later"), "", "a:1", ""},
		{"ManyThatAreNotKnownAreSkipped", field(3, "") + field(0x7fff, "later"), "", "", ""},
		{"OneOfTheGreatestLengthIsSkipped", field(3, strings.Repeat("x", maximum)), "", "", ""},
		{"OneThatMustBeUnderstoodIsNot", field(0x8000, ""), "field 0x8000 must be understood", "", ""},
		{"TheyComeInOrder", field(2, "born") + field(1, "a:1"), "field 0x0001 comes behind field 0x0002", "", ""},
		{"EachComesOnce", field(1, "a:1") + field(1, "a:1"), "field 0x0001 comes behind", "", ""},
		{"AnEmptyAddressIsRefused", field(1, ""), "field 0x0001 is empty", "", ""},
		{"ALongAddressIsTaken", field(1, strings.Repeat("x", 512)), "", strings.Repeat("x", 512), ""},
		{"ALongerAddressIsRefused", field(1, strings.Repeat("x", 513)), "the address has 513 bytes", "", ""},
		{"AnAddressIsText", field(1, "\xff"), "must be UTF-8", "", ""},
		{"BornIsAnyBytes", field(2, "\xff\x00"), "", "", "\xff\x00"},
		{"AnEmptyBornIsRefused", field(2, ""), "field 0x0002 is empty", "", ""},
		{"ALongBornIsTaken", field(2, long), "", "", long},
		{"ALongerBornIsRefused", field(2, long+"x"), "Born has 2049 bytes, at most 2048 are allowed", "", ""},
		{"ALengthBeyondTheEndIsRefused", field(3, "later")[:8], "has 5 bytes, 4 are there", "", ""},
		{"HalfAHeaderIsRefused", field(3, "") + "\x00\x04\x00", "3 bytes behind the last field", "", ""},
		{"TooMuchIsRefused", field(3, strings.Repeat("x", maximum+1)), "at most 4096 are allowed", "", ""},
	} {
		t.Run(c.statement, func(t *testing.T) {
			want := goldenHello()
			want.Born = ""
			wire := append(transport.AppendHello(nil, want, ""), c.fields...)
			h, from, err := transport.ParseHello(wire)
			if c.wrong != "" {
				require.ErrorIs(t, err, transport.ErrHello)
				require.ErrorContains(t, err, c.wrong)
				require.Zero(t, h)
				return
			}
			require.NoError(t, err)
			want.Born = c.born
			require.Equal(t, want, h)
			require.Equal(t, c.from, from)
		})
	}
}

func TestAHelloIsRefused(t *testing.T) {
	for _, c := range []struct {
		statement string
		change    func(h *transport.Hello)
		wrong     string
	}{
		{"WithoutACluster", func(h *transport.Hello) { h.Cluster = [32]byte{} }, "Cluster is all zero"},
		{"WithoutANode", func(h *transport.Hello) { h.Node = 0 }, "Node is zero"},
		{"WithoutADirectory", func(h *transport.Hello) { h.Directory = [16]byte{} }, "Directory is all zero"},
		{"WithoutAnIncarnation", func(h *transport.Hello) { h.Incarnation = 0 }, "Incarnation is zero"},
		{"WithoutAStart", func(h *transport.Hello) { h.Start = [16]byte{} }, "Start is all zero"},
		{"WithoutALowestVersion", func(h *transport.Hello) { h.Protocol.Lowest = 0 }, "Protocol is 0 to"},
		{"WithVersionsTheWrongWayRound", func(h *transport.Hello) { h.Protocol = transport.Versions{Lowest: 3, Highest: 2} }, "Protocol is 3 to 2"},
	} {
		t.Run(c.statement, func(t *testing.T) {
			h := goldenHello()
			c.change(&h)
			_, _, err := transport.ParseHello(transport.AppendHello(nil, h, ""))
			require.ErrorIs(t, err, transport.ErrHello)
			require.ErrorContains(t, err, c.wrong)
		})
	}
	t.Run("OfAnotherForm", func(t *testing.T) {
		wire := transport.AppendHello(nil, goldenHello(), "")
		wire[1] = 2
		_, _, err := transport.ParseHello(wire)
		require.ErrorContains(t, err, "it has form 2, known is 1")
	})
	t.Run("WhenItIsAnAnswer", func(t *testing.T) {
		_, _, err := transport.ParseHello(transport.AppendAnswer(nil, 0, ""))
		require.ErrorIs(t, err, transport.ErrHello)
	})
}

func TestVersionsAgreeOnTheGreatestOfBoth(t *testing.T) {
	for _, c := range []struct {
		a, b transport.Versions
		want uint16 // 0: none
	}{
		{transport.Versions{Lowest: 1, Highest: 1}, transport.Versions{Lowest: 1, Highest: 1}, 1},
		{transport.Versions{Lowest: 1, Highest: 3}, transport.Versions{Lowest: 2, Highest: 5}, 3},
		{transport.Versions{Lowest: 1, Highest: 9}, transport.Versions{Lowest: 2, Highest: 2}, 2},
		{transport.Versions{Lowest: 1, Highest: 2}, transport.Versions{Lowest: 3, Highest: 4}, 0},
	} {
		for _, pair := range [][2]transport.Versions{{c.a, c.b}, {c.b, c.a}} {
			version, ok := pair[0].Agree(pair[1])
			require.Equal(t, c.want != 0, ok, "%v", pair)
			if ok {
				require.Equal(t, c.want, version, "%v", pair)
			}
		}
	}
}

func FuzzHello(f *testing.F) {
	f.Add(transport.AppendHello(nil, goldenHello(), "a:7400"))
	f.Add(transport.AppendHello(nil, goldenHello(), ""))
	f.Add(transport.AppendHello(nil, hello(1), "a:7400"))
	f.Add(append(transport.AppendHello(nil, goldenHello(), ""), field(3, "later")+field(0x8001, "")...))
	f.Add(transport.AppendAnswer(nil, transport.CodeAdmit, "no"))
	f.Fuzz(func(t *testing.T, wire []byte) {
		before := bytes.Clone(wire)
		h, from, err := transport.ParseHello(wire)
		require.Equal(t, before, wire)
		if err != nil {
			require.ErrorIs(t, err, transport.ErrHello)
			require.Less(t, len(err.Error()), 1000, "an error does not repeat what came")
			require.Zero(t, h)
			return
		}
		// What was taken is what would have been sent, but for fields that are
		// not known here.
		again := transport.AppendHello(nil, h, from)
		require.True(t, bytes.HasPrefix(wire, again), "%x became %x", wire, again)
		require.LessOrEqual(t, len(wire), transport.HelloBytesMax)
	})
}
