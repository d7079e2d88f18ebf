package raftnode

import (
	"fmt"
	"log"
	"os"
)

// The engine's logging library takes the program's standard logger over when
// it is linked: it sets another writer and clears the flags, before main runs
// and whether the engine is used or not. Packages that are imported are
// initialised first, so this undoes it; a program that sets its logger up in
// main is not disturbed either way.
func init() { giveStandardLoggerBack() }

// giveStandardLoggerBack puts the standard logger back to what the standard
// library makes of it, if its writer is the engine's.
func giveStandardLoggerBack() {
	if fmt.Sprintf("%T", log.Writer()) != "capnslog.packageWriter" {
		return
	}
	log.SetOutput(os.Stderr)
	log.SetFlags(log.LstdFlags)
}
