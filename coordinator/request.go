package coordinator

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/palisade-go/palisade/statemachine"
)

// ttlMax is the longest TTL.
const ttlMax = 24 * time.Hour

// check turns the arguments of an acquire into a request. Every problem is
// reported at once; the error wraps ErrInvalid.
func (c *Coordinator) check(op string, keys []string, try bool, opts []AcquireOption) (*request, error) {
	o := acquireOptions{ttl: c.cfg.TTL}
	var problems []error
	for i, opt := range opts {
		if opt == nil {
			problems = append(problems, fmt.Errorf("option %d is nil", i))
			continue
		}
		opt(&o)
	}
	keys = slices.Clone(keys)
	slices.Sort(keys)
	keys = slices.Compact(keys)
	problems = append(problems, c.checkKeys(keys)...)
	problems = append(problems, c.checkTTL(o.ttl)...)
	if o.waitSet && o.wait <= 0 {
		problems = append(problems, fmt.Errorf("wait %v: must be above zero", o.wait))
	}
	if minimum := 4 * c.cfg.ElectionTimeout; o.maxSet && o.maxHold < minimum {
		problems = append(problems, fmt.Errorf("max hold %v: must be at least 4 election timeouts, %v", o.maxHold, minimum))
	}
	if most := metadataMax(o.metadata); len(o.metadata) > most {
		problems = append(problems, fmt.Errorf("metadata has %d bytes: at most %d", len(o.metadata), most))
	}
	if n := len(o.requestID); o.idSet && (n == 0 || n > statemachine.RequestIDBytesMax) {
		problems = append(problems, fmt.Errorf("request id has %d bytes: must be 1 to %d", n, statemachine.RequestIDBytesMax))
	}
	if len(problems) > 0 {
		return nil, &Error{op, keysText(keys), NotApplied, fmt.Errorf("%w: %w", ErrInvalid, errors.Join(problems...))}
	}
	return &request{
		op: op, keys: keys, try: try, ttl: o.ttl, wait: o.wait, limit: o.maxHold, id: o.requestID, meta: o.metadata,
		groups: c.claims(keys),
	}, nil
}

func (c *Coordinator) checkTTL(ttl time.Duration) []error {
	if minimum := 4 * c.cfg.ElectionTimeout; ttl < minimum || ttl > ttlMax {
		return []error{fmt.Errorf("ttl %v: must be from 4 election timeouts, %v, to %v", ttl, minimum, ttlMax)}
	}
	return nil
}

func (c *Coordinator) checkKeys(keys []string) (problems []error) {
	if len(keys) == 0 {
		problems = append(problems, errors.New("no key"))
	}
	if len(keys) > c.cfg.Limits.Keys {
		problems = append(problems, fmt.Errorf("%d keys: at most %d", len(keys), c.cfg.Limits.Keys))
		return problems
	}
	for _, key := range keys {
		if err := checkKey(key); err != nil {
			problems = append(problems, err)
		}
	}
	return problems
}

// checkKey accepts any 1 to 512 bytes.
func checkKey(key string) error {
	switch {
	case key == "":
		return errors.New("a key is empty")
	case len(key) > statemachine.KeyBytesMax:
		return fmt.Errorf("key %s… has %d bytes: at most %d", strconv.Quote(key[:16]), len(key), statemachine.KeyBytesMax)
	}
	return nil
}

// claims sorts keys by rising group.
func (c *Coordinator) claims(keys []string) []groupClaims {
	if len(keys) == 1 {
		return []groupClaims{{c.groupOf(keys[0]), []statemachine.Claim{{Key: keys[0], Mode: statemachine.Exclusive}}}}
	}
	buckets := make([][]statemachine.Claim, len(c.groups))
	for _, key := range keys {
		i := c.groupIndex(key)
		buckets[i] = append(buckets[i], statemachine.Claim{Key: key, Mode: statemachine.Exclusive})
	}
	var all []groupClaims
	for i, claims := range buckets {
		if len(claims) > 0 {
			all = append(all, groupClaims{c.groups[i], claims})
		}
	}
	return all
}

// keysText shows keys in an error: the first one, and how many more.
func keysText(keys []string) string {
	switch len(keys) {
	case 0:
		return ""
	case 1:
		return shorten(keys[0])
	}
	return fmt.Sprintf("%s and %d more", shorten(keys[0]), len(keys)-1)
}

func shorten(key string) string {
	const shown = 64
	if len(key) > shown {
		return key[:shown] + "…"
	}
	return key
}
