// Package holder is a client of a lock server in a process of its own, which
// takes a key, keeps it, and can be killed.
package holder
