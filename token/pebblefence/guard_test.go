package pebblefence

import (
	"context"
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

func TestNewRefuses(t *testing.T) {
	t.Run("APrefixOfALaterVersion", func(t *testing.T) {
		db := openDB(t, vfs.NewMem())
		newGuard(t, db)
		require.NoError(t, db.Set([]byte("fence/\x00"), []byte("PALFENCE\x00\x02"), pebble.Sync))
		_, err := New(Config{DB: db, Prefix: testPrefix})
		require.ErrorIs(t, err, ErrFormat)
	})
	t.Run("APrefixOfSomethingElse", func(t *testing.T) {
		db := openDB(t, vfs.NewMem())
		require.NoError(t, db.Set([]byte("fence/\x00"), []byte("mine"), pebble.Sync))
		_, err := New(Config{DB: db, Prefix: testPrefix})
		require.ErrorIs(t, err, ErrFormat)
		require.Equal(t, "mine", read(t, db, "fence/\x00"))
	})
	t.Run("ADatabaseThatIsReadOnly", func(t *testing.T) {
		fs := vfs.NewMem()
		require.NoError(t, openDB(t, fs).Close())
		opts := options(fs)
		opts.ReadOnly = true
		db, err := pebble.Open(testDir, opts)
		require.NoError(t, err)
		defer db.Close()
		_, err = New(Config{DB: db, Prefix: testPrefix})
		require.ErrorIs(t, err, pebble.ErrReadOnly)
	})
	t.Run("ADatabaseWithoutALog", func(t *testing.T) {
		opts := options(vfs.NewMem())
		opts.DisableWAL = true
		db, err := pebble.Open(testDir, opts)
		require.NoError(t, err)
		defer db.Close()
		_, err = New(Config{DB: db, Prefix: testPrefix})
		require.ErrorContains(t, err, "WAL disabled")
		require.Empty(t, dump(t, db))
	})
	t.Run("ADatabaseThatIsClosed", func(t *testing.T) {
		db := openDB(t, vfs.NewMem())
		require.NoError(t, db.Close())
		_, err := New(Config{DB: db, Prefix: testPrefix})
		require.ErrorIs(t, err, pebble.ErrClosed)
	})
}

// methods are the calls of a Guard that may change something.
func methods(g *Guard) map[string]func(token.Write) error {
	ctx := context.Background()
	return map[string]func(token.Write) error{
		"Do":     func(w token.Write) error { _, err := g.Do(ctx, w, put("data", "late")); return err },
		"DoOnce": func(w token.Write) error { _, err := g.DoOnce(ctx, w, put("data", "late")); return err },
		"Accept": func(w token.Write) error { return g.Accept(ctx, w) },
		"Forget": func(w token.Write) error { _, err := g.Forget(ctx, w.Resource, 0); return err },
	}
}

func TestAClosedDatabaseIsAnError(t *testing.T) {
	g := memGuard(t)
	require.NoError(t, g.store.db.Close())
	for name, call := range methods(g) {
		require.ErrorIs(t, call(token.Write{Resource: "r", Token: 5}), pebble.ErrClosed, name)
	}
	_, err := g.Highest(context.Background(), "r")
	require.ErrorIs(t, err, pebble.ErrClosed)
}

func TestADatabaseThatIsClosedUnderAWrite(t *testing.T) {
	g := memGuard(t)
	_, err := g.Do(context.Background(), token.Write{Resource: "r", Token: 5}, func(b *pebble.Batch) ([]byte, error) {
		return nil, g.store.db.Close()
	})
	require.ErrorIs(t, err, pebble.ErrClosed)
	require.NotErrorIs(t, err, token.ErrUnknown)
}

func TestALaterGuardReplacesTheEarlier(t *testing.T) {
	db := openDB(t, vfs.NewMem())
	first := newGuard(t, db)
	ctx := context.Background()
	w := token.Write{Resource: "r", Token: 5, Operation: "o"}
	_, err := first.Do(ctx, w, put("data", "first"))
	require.NoError(t, err)
	second := newGuard(t, db)
	before := dump(t, db)
	for name, call := range methods(first) {
		require.ErrorIs(t, call(token.Write{Resource: "r", Token: 9}), ErrReplaced, name)
	}
	_, err = first.Highest(ctx, "r")
	require.ErrorIs(t, err, ErrReplaced)
	require.Equal(t, before, dump(t, db))
	receipt, err := second.Do(ctx, w, put("data", "second"))
	require.NoError(t, err)
	require.Equal(t, token.Receipt{Token: 5, Value: []byte("wrote first"), Repeated: true}, receipt)

	t.Run("AlsoWhileItWrites", func(t *testing.T) {
		_, err := second.Do(ctx, token.Write{Resource: "r", Token: 9}, func(b *pebble.Batch) ([]byte, error) {
			newGuard(t, db)
			return put("data", "late")(b)
		})
		require.ErrorIs(t, err, ErrReplaced)
		require.Equal(t, before, dump(t, db))
	})
	t.Run("ButNotAtAnotherPrefix", func(t *testing.T) {
		newest := newGuard(t, db)
		_, err := New(Config{DB: db, Prefix: []byte("other/")})
		require.NoError(t, err)
		require.NoError(t, newest.Accept(ctx, token.Write{Resource: "r", Token: 9}))
	})
}

func TestGuardsOfTwoPrefixesAreIndependent(t *testing.T) {
	db := openDB(t, vfs.NewMem())
	g := newGuard(t, db)
	other, err := New(Config{DB: db, Prefix: []byte("other/")})
	require.NoError(t, err)
	ctx := context.Background()
	require.NoError(t, g.Accept(ctx, token.Write{Resource: "r", Token: 9}))
	require.NoError(t, other.Accept(ctx, token.Write{Resource: "r", Token: 5}))
}

func TestAcceptIsOnDiskAndWritesOnlyWhatIsNew(t *testing.T) {
	mem := vfs.NewCrashableMem()
	g := newGuard(t, openDB(t, mem))
	ctx := context.Background()
	require.NoError(t, g.Accept(ctx, token.Write{Resource: "r", Token: 9}))
	crashed := newGuard(t, openDB(t, mem.CrashClone(vfs.CrashCloneCfg{})))
	highest, err := crashed.Highest(ctx, "r")
	require.NoError(t, err)
	require.EqualValues(t, 9, highest)

	written := g.store.db.Metrics().WAL.BytesIn
	require.NoError(t, g.Accept(ctx, token.Write{Resource: "r", Token: 9}))
	require.ErrorIs(t, g.Accept(ctx, token.Write{Resource: "r", Token: 8}), token.ErrStale)
	require.Equal(t, written, g.store.db.Metrics().WAL.BytesIn)
}

func TestADamagedRecordLetsNobodyIn(t *testing.T) {
	w := token.Write{Resource: "r", Token: 9, Operation: "o"}
	keys := newKeyspace(testPrefix)
	for name, damage := range map[string]func(db *pebble.DB) error{
		"FenceWithABitFlipped": func(db *pebble.DB) error {
			key := keys.fence("r")
			record := []byte(read(t, db, string(key)))
			record[7] ^= 1
			return db.Set(key, record, pebble.Sync)
		},
		"FenceOfAnotherResource": func(db *pebble.DB) error {
			return db.Set(keys.fence("r"), []byte(read(t, db, string(keys.fence("s")))), pebble.Sync)
		},
		"FenceThatIsEmpty": func(db *pebble.DB) error { return db.Set(keys.fence("r"), nil, pebble.Sync) },
		"FenceThatIsLostButForItsOperation": func(db *pebble.DB) error {
			return db.Delete(keys.fence("r"), pebble.Sync)
		},
		"OperationThatIsCut": func(db *pebble.DB) error {
			key := keys.operation("r", "o")
			record := read(t, db, string(key))
			return db.Set(key, []byte(record[:len(record)-1]), pebble.Sync)
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := memGuard(t)
			ctx := context.Background()
			for _, resource := range []string{"r", "s"} {
				w := w
				w.Resource = resource
				_, err := g.Do(ctx, w, put("data "+resource, "first"))
				require.NoError(t, err)
			}
			require.NoError(t, damage(g.store.db))
			before := dump(t, g.store.db)
			_, err := g.Do(ctx, w, put("data r", "second"))
			require.ErrorIs(t, err, ErrDamaged)
			require.Equal(t, before, dump(t, g.store.db))
			// Other resources go on.
			_, err = g.Do(ctx, token.Write{Resource: "s", Token: 9}, put("data s", "second"))
			require.NoError(t, err)
		})
	}
}

func TestAnErrorOfTheContextNamesItsCause(t *testing.T) {
	g := memGuard(t)
	lost := errors.New("the lease is lost")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(lost)
	for name, call := range map[string]func() error{
		"Do": func() error {
			_, err := g.Do(ctx, token.Write{Resource: "r", Token: 5}, put("data", "x"))
			return err
		},
		"Accept":  func() error { return g.Accept(ctx, token.Write{Resource: "r", Token: 5}) },
		"Highest": func() error { _, err := g.Highest(ctx, "r"); return err },
		"Forget":  func() error { _, err := g.Forget(ctx, "r", 0); return err },
	} {
		require.ErrorIs(t, call(), context.Canceled, name)
		require.ErrorIs(t, call(), lost, name)
	}
	require.Empty(t, read(t, g.store.db, "data"))
}
