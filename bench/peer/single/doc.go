// Package single runs a peer that is one server: a program that others wrote, and
// clients of it in this process.
package single
