// Package usagetest says what a test has used.
package usagetest

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Heap returns how many bytes are in use.
func Heap() int64 {
	// The second collection takes what the first has only found finalizers for, and
	// what pools keep for one round.
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// Processor returns the processor time of this process, collections of garbage
// included: other work on the machine changes it less than the time of day.
func Processor() time.Duration {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
