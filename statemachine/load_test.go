package statemachine

import (
	"bytes"
	"iter"
	"math/rand"
	"slices"
	"testing"
	"time"

	"github.com/palisade-go/palisade/token"
	"github.com/stretchr/testify/require"
)

func recordsOf(m *Machine) []Record {
	var records []Record
	for key, value := range m.Records() {
		records = append(records, Record{Key: key, Value: value})
	}
	return records
}

func sequence(records []Record) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		for _, rec := range records {
			if !yield(rec.Key, rec.Value) {
				return
			}
		}
	}
}

func TestLoad(t *testing.T) {
	sample := sampleMachine(t)
	genesis := Genesis{Group: 7}
	t.Run("OfNothingIsNew", func(t *testing.T) {
		m, err := Load(testGenesis, sequence(nil))
		require.NoError(t, err)
		require.Equal(t, dump(t, New(testGenesis)), dump(t, m))
		require.NotEmpty(t, m.TakeChanges())
	})
	t.Run("TakesRecordsInAnyOrder", func(t *testing.T) {
		seed := time.Now().UnixNano()
		t.Logf("seed %d", seed)
		records := recordsOf(sample)
		require.True(t, slices.IsSortedFunc(records, func(a, b Record) int { return bytes.Compare(a.Key, b.Key) }))
		rng := rand.New(rand.NewSource(seed))
		for range 50 {
			rng.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
			m, err := Load(genesis, sequence(records))
			require.NoError(t, err)
			require.Equal(t, dump(t, sample), dump(t, m))
		}
	})
	t.Run("KeepsNoneOfTheBytes", func(t *testing.T) {
		records := recordsOf(sample)
		m, err := Load(genesis, func(yield func(key, value []byte) bool) {
			for _, rec := range records {
				ok := yield(rec.Key, rec.Value)
				clear(rec.Key)
				clear(rec.Value)
				if !ok {
					return
				}
			}
		})
		require.NoError(t, err)
		require.Equal(t, dump(t, sample), dump(t, m))
	})
	t.Run("DoesNotTakeMembersOrEpochFromGenesis", func(t *testing.T) {
		m, err := Load(Genesis{Group: 7, Epoch: 9, Members: []NodeID{1, 42}}, sample.Records())
		require.NoError(t, err)
		require.Equal(t, dump(t, sample), dump(t, m))
	})
}

func TestLoadRefuses(t *testing.T) {
	genesis := Genesis{Group: 7}
	sample := sampleMachine(t)
	id := LeaseID{Node: 1, Incarnation: 1, Seq: 1}
	lease, ok := sample.Lease(id)
	require.True(t, ok)
	wait := Wait{ID: LeaseID{Node: 1, Incarnation: 2, Seq: 9}, Claims: claims("free"), TTL: 1, Place: 5}
	with := func(change func(*Lease)) Record {
		l := lease
		l.ID.Seq, l.Claims, l.Place = 77, claims("other"), 5
		l.Token, _ = token.New(3, 3)
		change(&l)
		return leaseRecord(l)
	}
	// Place 5 and token 3 must be given for the single faults to show.
	meta := metaValue{Meta: sample.Meta(), group: 7}
	meta.Counter, meta.Place = 10, 10

	for name, c := range map[string]struct {
		add  Record
		text string
	}{
		"AnEmptyKey":                      {Record{Key: nil, Value: []byte{1}}, "empty key"},
		"AnUnknownKind":                   {Record{Key: []byte{9}, Value: []byte{1}}, "unknown kind 9"},
		"AKeyOfAnotherLength":             {Record{Key: []byte{2, 0}, Value: []byte{1}}, "1 bytes after the kind, expected 8"},
		"AnEmptyValue":                    {Record{Key: requestKey(recordWait, id)}, "record format"},
		"AnotherFormat":                   {Record{Key: requestKey(recordWait, id), Value: []byte{0}}, "record format 0, expected 1"},
		"AValueWithBytesTooMany":          {Record{Key: presenceRecord(Presence{Node: 9}).Key, Value: append(presenceRecord(Presence{Node: 9}).Value, 0)}, "1 bytes too many"},
		"ASecondMeta":                     {metaRecord(meta), "a second meta"},
		"ASecondPresence":                 {presenceRecord(Presence{Node: 1}), "a second presence of node 1"},
		"APresenceOfNoNode":               {presenceRecord(Presence{}), "invariant 6"},
		"TwoLeasesOfOneKey":               {with(func(l *Lease) { l.Claims = claims("a") }), "has the leases 1.1.1 and 1.1.77"},
		"TheSameRequestAsLeaseAndWait":    {waitRecord(Wait{ID: id, Claims: claims("x"), TTL: 1, Place: 5}), "two requests with seq 1"},
		"ALeaseOfNoMember":                {with(func(l *Lease) { l.ID.Node = 5 }), "requests of node 5, which has no presence"},
		"ALeaseOfAnIncarnationToCome":     {with(func(l *Lease) { l.ID.Incarnation = 3 }), "incarnation 3 of node 1, whose presence has 2"},
		"ALeaseOfIncarnationZero":         {with(func(l *Lease) { l.ID.Incarnation = 0 }), "invariant 6"},
		"ALeaseOfNobodyAnnounced":         {with(func(l *Lease) { l.ID.Node, l.ID.Incarnation = 2, 0 }), "invariant 6"},
		"ALeaseThatRemembersAnUnborn":     {with(func(l *Lease) { l.ID.Incarnation, l.Last = 2, 201 }), "invariant 6"},
		"AWaitThatNothingIsInTheWayOf":    {waitRecord(wait), "invariant 3"},
		"ATokenTwice":                     {with(func(l *Lease) { l.Token = lease.Token }), "invariant 7"},
		"ATokenNotIssued":                 {with(func(l *Lease) { l.Token, _ = token.New(3, 11) }), "invariant 7"},
		"ATokenOfAnotherEpoch":            {with(func(l *Lease) { l.Token, _ = token.New(2, 2) }), "invariant 7"},
		"NoToken":                         {with(func(l *Lease) { l.Token = 0 }), "invariant 7"},
		"APlaceTwice":                     {with(func(l *Lease) { l.Place = 1; l.TTL = 3 }), "invariant 9"},
		"APlaceNotGiven":                  {with(func(l *Lease) { l.Place = 11 }), "invariant 9"},
		"ATTLOfZero":                      {with(func(l *Lease) { l.TTL = 0 }), "invariant 10"},
		"ALeaseWithoutClaims":             {with(func(l *Lease) { l.Claims = nil }), "invariant 10"},
		"UnsortedClaims":                  {with(func(l *Lease) { l.Claims = claims("y", "x") }), "invariant 10"},
		"AWaitOfASeqThatIsZero":           {with(func(l *Lease) { l.ID.Seq = 0 }), "invariant 10"},
		"ARecordThatIsCutShort":           {Record{Key: with(func(*Lease) {}).Key, Value: with(func(*Lease) {}).Value[:9]}, "record 03"},
		"AMetaInAnImageThatHasOneAlready": {metaRecord(meta), "a second meta"},
	} {
		t.Run(name, func(t *testing.T) {
			records := append(recordsOf(sample), c.add)
			records[0] = metaRecord(meta)
			_, err := Load(genesis, sequence(records))
			require.ErrorIs(t, err, ErrMalformed)
			require.NotErrorIs(t, err, ErrNewer)
			require.ErrorContains(t, err, c.text)
		})
	}
	t.Run("OnlyForWhatIsWrong", func(t *testing.T) {
		records := append(recordsOf(sample), with(func(*Lease) {}))
		records[0] = metaRecord(meta)
		_, err := Load(genesis, sequence(records))
		require.NoError(t, err)
	})
	t.Run("AnImageWithoutMeta", func(t *testing.T) {
		_, err := Load(genesis, sequence(recordsOf(sample)[1:]))
		require.ErrorIs(t, err, ErrMalformed)
		require.ErrorContains(t, err, "image without meta")
	})
	t.Run("AnImageOfAnotherGroup", func(t *testing.T) {
		_, err := Load(Genesis{Group: 8}, sample.Records())
		require.ErrorIs(t, err, ErrMalformed)
		require.ErrorContains(t, err, "image of group 7, expected group 8")
	})
	t.Run("ANewerImageWhateverElseIsWrongWithIt", func(t *testing.T) {
		newer := meta
		newer.Version = Binary + 1
		records := append([]Record{{Key: []byte{9}, Value: []byte{7}}}, recordsOf(sample)[1:]...)
		_, err := Load(genesis, sequence(append(records, metaRecord(newer))))
		require.ErrorIs(t, err, ErrNewer)
		require.ErrorContains(t, err, "machine version 2, this binary knows 1")
	})
	t.Run("ANewerRecordFormat", func(t *testing.T) {
		records := recordsOf(sample)
		records[2].Value[0] = recordFormat + 1
		_, err := Load(genesis, sequence(records))
		require.ErrorIs(t, err, ErrNewer)
	})
}

// Every byte of a small image in turn is damaged: Load gives an error or a
// machine whose invariants hold, and never panics.
func TestLoadOfDamagedImages(t *testing.T) {
	sample := sampleMachine(t)
	for i := range recordsOf(sample) {
		for _, part := range []int{0, 1} {
			for at := 0; ; at++ {
				records := recordsOf(sample)
				bytes := [][]byte{records[i].Key, records[i].Value}[part]
				if at == len(bytes) {
					break
				}
				for _, damage := range []byte{0x01, 0x80, 0xff} {
					bytes[at] ^= damage
					m, err := Load(Genesis{Group: 7}, sequence(records))
					bytes[at] ^= damage
					if err == nil {
						require.NoError(t, m.Check())
					}
				}
			}
		}
	}
}
