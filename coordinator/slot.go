package coordinator

import (
	"hash/fnv"
	"strings"
)

// slotCount is how many slots the key space has. Part of the birth
// certificate: never change it.
const slotCount = 4096

// slotHash names the hash of keys to slots in the birth certificate.
const slotHash = "fnv1a64-fold/4096"

// slotOf returns the slot of a key: FNV-1a (64 bits) of its tag, the upper
// half folded onto the lower, modulo 4096. Pinned by golden vectors.
func slotOf(key string) uint32 {
	h := fnv.New64a()
	h.Write([]byte(tagOf(key)))
	sum := h.Sum64()
	return uint32(sum^sum>>32) % slotCount
}

// tagOf returns what of a key decides its slot: the bytes between its first
// "{" and the next "}" if there is at least one, and the whole key otherwise.
func tagOf(key string) string {
	open := strings.IndexByte(key, '{')
	if open < 0 {
		return key
	}
	length := strings.IndexByte(key[open+1:], '}')
	if length <= 0 {
		return key
	}
	return key[open+1 : open+1+length]
}

// groupIndex returns the position in Coordinator.groups of a key's group.
func (c *Coordinator) groupIndex(key string) int { return int(slotOf(key)) % len(c.groups) }

// groupOf returns the group of a key.
func (c *Coordinator) groupOf(key string) *group { return c.groups[c.groupIndex(key)] }
