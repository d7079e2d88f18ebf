//go:build !race

package dashboard_test

// raceEnabled says that the race detector is there, which makes all slower.
const raceEnabled = false
