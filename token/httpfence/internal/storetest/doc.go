// Package storetest holds the suite that every httpfence.Store passes: what a
// guard relies on. It is for the tests of the stores of this repository.
package storetest
