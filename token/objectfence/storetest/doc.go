// Package storetest checks an objectfence.Store: what a guard relies on, each
// rule as a sub-test. Write a test for your own store that calls Run.
//
// It imports nothing but the standard library and what it checks. Whatever it
// finds it finds by asking the store; that what was put survives a crash it can't
// see.
package storetest
