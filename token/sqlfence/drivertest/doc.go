// Package drivertest is the tests of sqlfence on real databases, in a module of
// its own, so that no user of palisade gets their drivers. SQLite runs in the
// tests' process. PostgreSQL is the one whose connection string is in the
// variable PALISADE_POSTGRES; without it its tests are skipped, and fail if CI
// is set:
//
//	bash .ci/run databases     starts a server, runs the tests, and stops it
//	PALISADE_POSTGRES='host=/var/run/postgresql user=postgres' go test ./...
//
// The tests make schemas of their own in that database and drop them again.
package drivertest
