// Package turn lets the callers of a guard work on one resource one at a time.
// Lines holds who works and who waits, by resource; a caller that has its turn
// gives it on. Resources do not wait for each other, and one that nobody wants
// takes no memory. Who waits is not served in any order.
//
// It knows nothing of tokens, and of no other process. The guards below token
// call it.
package turn
