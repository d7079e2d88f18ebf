// Package lint holds the rules of this repository that a program can check.
// Its test applies them to the whole tree, so `go test ./...` fails when one
// is broken; the message says why the rule is there and what to do instead.
//
// The rules read the source as text and syntax, without types, and know
// nothing of build tags: a file counts whatever its tags say.
//
//  1. engine: the Raft engine is imported in one place.
//  2. direction: imports point down the layers.
//  3. dependencies: every module that is imported has been decided on.
//  4. test-code: programs don't link what only tests need.
//  5. pure: the pure packages have no clock, goroutine, lock or I/O.
//  6. pure-present: a pure package that is renamed takes its rule along.
//  7. reflection: no bytes are decoded by reflection.
//  8. package-names: a package is named for what it is about.
//  9. package-docs: every package says what it is for, once.
//  10. docs: every exported identifier has a doc comment.
//  11. length: a long file hides a second noun.
//  12. sleep: tests wait for signals.
//  13. machine-paths: no path of somebody's machine.
//  14. links: links inside the repository lead somewhere.
//  15. readme: the README has the two commands.
//  16. shown: the tests that docs/guarantees.md and docs/fencing name are there.
//  17. cases: each failure that other lock services had has its tests.
//  18. faults: docs/testing.md knows how many faults are put in.
//
// Rules are pure functions of a Tree. A new rule comes with a test that shows
// a small text that breaks it.
package lint
