package storetest

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/objectfence"
)

// strange is a strong ETag that no store has issued.
const strange objectfence.ETag = `"storetest-was-never-issued"`

// mustPut puts and wants success.
func mustPut(
	ctx context.Context, t reporter, store objectfence.Store, name objectfence.Name, body string, match objectfence.ETag,
) {
	t.Helper()
	etag, err := store.PutIf(ctx, name, []byte(body), match)
	if err != nil {
		t.Fatalf("PutIf of %s with ETag %q: %v", name, match, err)
	}
	if got := mustGet(ctx, t, store, name, body); etag != objectfence.Absent && etag != got {
		t.Fatalf("PutIf of %s returned ETag %q, and Get %q", name, etag, got)
	}
}

// mustGet gets and wants the body; it returns the ETag.
func mustGet(ctx context.Context, t reporter, store objectfence.Store, name objectfence.Name, body string) objectfence.ETag {
	t.Helper()
	object, err := store.Get(ctx, name)
	if err != nil {
		t.Fatalf("Get of %s: %v", name, err)
	}
	if string(object.Body) != body {
		t.Fatalf("Get of %s returned %d bytes, %.40q; %d were put, %.40q", name, len(object.Body), object.Body, len(body), body)
	}
	if object.ETag == objectfence.Absent {
		t.Fatalf("Get of %s returned no ETag", name)
	}
	return object.ETag
}

// mustChanged wants ErrChanged of a PutIf, and nothing done.
func mustChanged(ctx context.Context, t reporter, store objectfence.Store, name objectfence.Name, match objectfence.ETag) {
	t.Helper()
	before, beforeErr := store.Get(ctx, name)
	_, err := store.PutIf(ctx, name, []byte("must not be written"), match)
	if !errors.Is(err, objectfence.ErrChanged) {
		t.Fatalf("PutIf of %s with ETag %q returned %v, not ErrChanged", name, match, err)
	}
	after, afterErr := store.Get(ctx, name)
	if before.ETag != after.ETag || !bytes.Equal(before.Body, after.Body) || (beforeErr == nil) != (afterErr == nil) {
		t.Fatalf("PutIf of %s returned ErrChanged and changed it: %.40q became %.40q (%v, %v)",
			name, before.Body, after.Body, beforeErr, afterErr)
	}
}

func notFound(ctx context.Context, t reporter, store objectfence.Store) {
	if _, err := store.Get(ctx, "nothing"); !errors.Is(err, objectfence.ErrNotFound) {
		t.Fatalf("Get of an object that was never put returned %v, not ErrNotFound", err)
	}
}

func readBack(ctx context.Context, t reporter, store objectfence.Store) {
	for name, body := range map[objectfence.Name]string{
		"empty": "", "text": "hello", "bytes": "\x00\xff\r\n\x1f\x8b", "long": strings.Repeat("0123456789abcdef", 1<<16),
	} {
		mustPut(ctx, t, store, name, body, objectfence.Absent)
	}
	mustGet(ctx, t, store, "text", "hello") // after the others too
}

func copied(ctx context.Context, t reporter, store objectfence.Store) {
	body := []byte("as it was")
	if _, err := store.PutIf(ctx, "a", body, objectfence.Absent); err != nil {
		t.Fatalf("PutIf: %v", err)
	}
	copy(body, "altered..")
	object, err := store.Get(ctx, "a")
	if err != nil || string(object.Body) != "as it was" {
		t.Fatalf("the caller altered its slice after PutIf, and Get returned %.40q, %v", object.Body, err)
	}
	copy(object.Body, "altered..")
	mustGet(ctx, t, store, "a", "as it was")
}

func madeOnce(ctx context.Context, t reporter, store objectfence.Store) {
	mustPut(ctx, t, store, "a", "first", objectfence.Absent)
	mustChanged(ctx, t, store, "a", objectfence.Absent)
	mustPut(ctx, t, store, "b", "another name", objectfence.Absent)
}

func replacedOnce(ctx context.Context, t reporter, store objectfence.Store) {
	mustPut(ctx, t, store, "a", "first", objectfence.Absent)
	first := mustGet(ctx, t, store, "a", "first")
	mustPut(ctx, t, store, "a", "second", first)
	second := mustGet(ctx, t, store, "a", "second")
	if first == second {
		t.Fatalf("two bodies have one ETag, %q", first)
	}
	mustChanged(ctx, t, store, "a", first)
	mustPut(ctx, t, store, "a", "third", second)
	mustChanged(ctx, t, store, "a", second)
}

func wrongETag(ctx context.Context, t reporter, store objectfence.Store) {
	mustPut(ctx, t, store, "a", "first", objectfence.Absent)
	mustPut(ctx, t, store, "b", "of b", objectfence.Absent)
	mustChanged(ctx, t, store, "a", strange)
	mustChanged(ctx, t, store, "a", mustGet(ctx, t, store, "b", "of b"))
}

func nothingMade(ctx context.Context, t reporter, store objectfence.Store) {
	mustPut(ctx, t, store, "b", "of b", objectfence.Absent)
	mustChanged(ctx, t, store, "a", strange)
	mustChanged(ctx, t, store, "a", mustGet(ctx, t, store, "b", "of b"))
}

func names(ctx context.Context, t reporter, store objectfence.Store) {
	long := objectfence.Name(strings.Repeat("n", objectfence.NameBytesMax-1))
	all := []objectfence.Name{
		"a", "b", "a.b", "a-b", "a_b", "ab", "a..", "-", "_", "0", "a.pointer", "a.version.0", long, long + "a", long + "b",
	}
	for _, name := range all {
		mustPut(ctx, t, store, name, "of "+string(name), objectfence.Absent)
	}
	for _, name := range all {
		mustGet(ctx, t, store, name, "of "+string(name))
	}
}

func badNames(ctx context.Context, t reporter, store objectfence.Store) {
	for _, name := range []objectfence.Name{
		"", ".", "..", ".hidden", "../a", "a/b", "/a", `a\b`, "a b", "A", "a\x00", "a%2fb", "ä", "a?b", "a#b", "a:b", "a\n",
		objectfence.Name(strings.Repeat("n", objectfence.NameBytesMax+1)),
	} {
		if _, err := store.Get(ctx, name); !errors.Is(err, token.ErrInvalid) {
			t.Fatalf("Get of %.40q returned %v, not token.ErrInvalid", string(name), err)
		}
		for _, match := range []objectfence.ETag{objectfence.Absent, strange} {
			if _, err := store.PutIf(ctx, name, []byte("x"), match); !errors.Is(err, token.ErrInvalid) {
				t.Fatalf("PutIf of %.40q returned %v, not token.ErrInvalid", string(name), err)
			}
		}
	}
}

func finished(ctx context.Context, t reporter, store objectfence.Store) {
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := store.Get(done, "a"); !errors.Is(err, context.Canceled) {
		t.Fatalf("Get with a finished context returned %v, not context.Canceled", err)
	}
	if _, err := store.PutIf(done, "a", []byte("x"), objectfence.Absent); !errors.Is(err, context.Canceled) {
		t.Fatalf("PutIf with a finished context returned %v, not context.Canceled", err)
	}
	if _, err := store.Get(ctx, "a"); !errors.Is(err, objectfence.ErrNotFound) {
		t.Fatalf("PutIf with a finished context made the object, or Get failed: %v", err)
	}
}
