//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package objectfence

import "errors"

// lock fails: without a lock that ends with its process there is no FileStore.
func (osDisk) lock() (unlock func() error, locked bool, err error) {
	return nil, false, errors.ErrUnsupported
}
