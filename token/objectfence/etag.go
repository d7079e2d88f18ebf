package objectfence

import (
	"fmt"
	"strings"
)

// etagBytesMax bounds what is taken from a header.
const etagBytesMax = 1024

// checkETag returns nil for a strong ETag as RFC 9110 spells it: visible
// characters but '"' between two of those. A weak one says that two states are
// as good as equal, and so that one may be overwritten for the other.
func checkETag(etag ETag) error {
	s := string(etag)
	switch {
	case s == "":
		return fmt.Errorf("%w: there is none", ErrETag)
	case len(s) > etagBytesMax:
		return fmt.Errorf("%w: %.64q... is longer than %d bytes", ErrETag, s, etagBytesMax)
	case strings.HasPrefix(s, "W/"):
		return fmt.Errorf("%w: %.64q is weak", ErrETag, s)
	case len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"':
		return fmt.Errorf("%w: %.64q is not between quotes", ErrETag, s)
	}
	for _, c := range []byte(s[1 : len(s)-1]) {
		if c <= ' ' || c == '"' || c == 0x7f {
			return fmt.Errorf("%w: %.64q has the character %q", ErrETag, s, c)
		}
	}
	return nil
}
