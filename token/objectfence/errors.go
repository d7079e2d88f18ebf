package objectfence

import "errors"

// What a Store answers.
var (
	// ErrNotFound says that the store has no object of that name.
	ErrNotFound = errors.New("objectfence: object not found")
	// ErrChanged says that the object is not the one that was to be replaced:
	// its ETag is another, it is gone, or it is there and should not be. This
	// PutIf did nothing.
	ErrChanged = errors.New("objectfence: object changed")
	// ErrRefused says that the store turned the request down and did nothing,
	// for another reason than ErrChanged.
	ErrRefused = errors.New("objectfence: refused by the store")
	// ErrETag says that the store's answer has no strong ETag, and so nothing
	// that a later PutIf can compare.
	ErrETag = errors.New("objectfence: no strong ETag")
	// ErrTooLarge says that an object, or what would become one, has more than
	// ObjectBytesMax bytes, a value more than ValueBytesMax, or a pointer more
	// than PointerBytesMax. Nothing was written.
	ErrTooLarge = errors.New("objectfence: too large")
)

var (
	// ErrDoesNotCompare says that a store took a PutIf that it had to refuse. No
	// guard can work on it.
	ErrDoesNotCompare = errors.New("objectfence: the store does not compare")
	// ErrFormat says that a pointer has a format that this code does not know.
	ErrFormat = errors.New("objectfence: unknown format")
	// ErrDamaged says that a pointer is not what was written, or the version to
	// which it points. Nothing was written, and the resource takes no writes
	// until it is mended: a fence that is guessed would let a paused writer in.
	ErrDamaged = errors.New("objectfence: object is damaged")
)
