package history

import (
	"maps"
	"slices"
)

// joined tells which keys were taken together, directly or by way of others: a
// forest in which each key names the one above it.
type joined map[string]string

func (j joined) join(keys []string) {
	first := j.root(keys[0])
	for _, key := range keys[1:] {
		j[j.root(key)] = first
	}
}

// root returns the key that stands for a set.
func (j joined) root(key string) string {
	above, known := j[key]
	switch {
	case !known:
		j[key] = key
		return key
	case above == key:
		return key
	}
	root := j.root(above)
	j[key] = root
	return root
}

// members returns the keys of a set.
func (j joined) members(root string) []string {
	var members []string
	for _, key := range sortedKeys(j) {
		if j.root(key) == root {
			members = append(members, key)
		}
	}
	return members
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
