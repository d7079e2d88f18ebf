package statemachine

import "errors"

// The bounds of a batch. They decide outcomes, so they are part of the
// machine's rules: another value needs a new machine version.
const (
	// KeyBytesMax is the length of the longest key.
	KeyBytesMax = 512
	// MetadataBytesMax is the length of the longest metadata of a request.
	MetadataBytesMax = 1024
	// RequestIDBytesMax is the length of the longest request id.
	RequestIDBytesMax = 128
	// ClaimsMax is how many claims a request may have.
	ClaimsMax = 128
	// CommandsMax is how many commands a batch may have.
	CommandsMax = 4096
	// BatchBytesMax is the length of the longest encoded batch.
	BatchBytesMax = 4 << 20
)

var (
	// ErrMalformed is wrapped by the errors of bytes that are no batch or no
	// record of any known format.
	ErrMalformed = errors.New("statemachine: malformed")
	// ErrNewer is wrapped by the errors of bytes or of a group that need a
	// newer binary than this one.
	ErrNewer = errors.New("statemachine: newer than this binary")
)

// wellFormed says whether the command alone, without the state, obeys the
// rules: seq not zero, claims within the bounds, sorted and distinct, a known
// mode, TTL and limit in range, texts not too long.
func (c Acquire) wellFormed() bool {
	return c.Seq != 0 &&
		c.TTL > 0 && c.Limit >= 0 &&
		len(c.RequestID) <= RequestIDBytesMax &&
		len(c.Metadata) <= MetadataBytesMax &&
		wellFormedClaims(c.Claims)
}

func wellFormedClaims(claims []Claim) bool {
	if len(claims) == 0 || len(claims) > ClaimsMax {
		return false
	}
	for i, c := range claims {
		if len(c.Key) == 0 || len(c.Key) > KeyBytesMax || c.Mode != Exclusive {
			return false
		}
		if i > 0 && claims[i-1].Key >= c.Key {
			return false
		}
	}
	return true
}
