package diskstore

import "errors"

var (
	// ErrInUse says that the directory is open, in this process or another.
	ErrInUse = errors.New("diskstore: directory is in use")
	// ErrFormat says that the directory holds something else, or was written by
	// a later version.
	ErrFormat = errors.New("diskstore: unknown format")
	// ErrDamaged says that a record is not what was written. Its resource takes
	// no writes until it is mended.
	ErrDamaged = errors.New("diskstore: record is damaged")
	// ErrFailed says that a Save did not succeed, now or before. It may have been
	// made; the next Open tells. The store answers nothing any more.
	ErrFailed = errors.New("diskstore: store failed")
	// ErrClosed says that the store is closed. Nothing was changed.
	ErrClosed = errors.New("diskstore: store is closed")
)
