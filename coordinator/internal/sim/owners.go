package sim

import (
	"slices"
)

// owners are all who hold a key, as they believe. G1 as they see it: no two
// trust the same key at one time.
type owners struct {
	w     *world
	byKey map[string][]*call
	// contested are the keys that more than one holds, which is right as long
	// as at most one of them trusts. Trust may come back when a window moves,
	// so they are looked at after each step.
	contested []string
}

func newOwners() *owners { return &owners{byKey: map[string][]*call{}} }

func (o *owners) add(c *call) {
	for _, claim := range c.ask.Claims {
		o.byKey[claim.Key] = append(o.byKey[claim.Key], c)
		if len(o.byKey[claim.Key]) == 2 {
			o.contested = append(o.contested, claim.Key)
		}
	}
}

func (o *owners) remove(c *call) {
	for _, claim := range c.ask.Claims {
		rest := slices.DeleteFunc(o.byKey[claim.Key], func(one *call) bool { return one == c })
		if o.byKey[claim.Key] = rest; len(rest) == 0 {
			delete(o.byKey, claim.Key)
		}
		if len(rest) == 1 {
			o.contested = slices.DeleteFunc(o.contested, func(key string) bool { return key == claim.Key })
		}
	}
}

// trusting returns one who trusts a key; nil: nobody.
func (o *owners) trusting(key string) *call {
	for _, c := range o.byKey[key] {
		if c.trusts() {
			return c
		}
	}
	return nil
}

// check finds two who trust the same key.
func (o *owners) check() {
	for _, key := range o.contested {
		var first *call
		for _, c := range o.byKey[key] {
			switch {
			case !c.trusts():
			case first == nil:
				first = c
			default:
				o.w.fail("G1", "calls %d of node %d and %d of node %d both own %s",
					first.ref, first.shell.n.id, c.ref, c.shell.n.id, key)
			}
		}
	}
}
