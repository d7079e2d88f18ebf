// Mutation puts known faults into a copy of this repository, one at a time,
// runs the tests that should notice, and prints which of them did. A fault
// that no test notices is a missing test.
//
//	go run ./internal/mutation              every fault
//	go run ./internal/mutation wake sweep   those whose name has one of the words
//	go run ./internal/mutation -list        only the list
//
// The faults are in the files of faults, by the part of the protocol they
// break. Each is a text that stands exactly once in the source and the text to
// put there, so a fault that has become stale is found by the test of this
// package without running anything:
//
//	== name-of-the-fault
//	breaks: G9
//	why: what a program would see of it
//	file: statemachine/end.go
//	test: ./statemachine
//	test: ./coordinator -run TestG9
//	---
//	the text as it is
//	+++
//	the text with the fault
//
// Tests run in the order of their lines, up to the first that fails. The copy
// has to compile: a compiler that notices proves nothing of the tests. The exit
// status is 1 if a fault was not caught, did not compile, or was not found.
package main
