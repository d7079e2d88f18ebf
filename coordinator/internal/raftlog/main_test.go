package raftlog

import (
	"os"
	"testing"

	"github.com/lni/dragonboat/v4/logger"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	for _, name := range []string{
		"config", "dragonboat", "logdb", "LogDB", "pebblekv", "raft", "raftpb", "registry",
		"rsm", "server", "settings", "tan", "tools", "transport",
	} {
		logger.GetLogger(name).SetLevel(logger.CRITICAL)
	}
	if os.Getenv(faultChildEnv) != "" || os.Getenv(killChildEnv) != "" || os.Getenv(fullChildEnv) != "" {
		os.Exit(m.Run()) // a child that is to end in the midst of something
	}
	goleak.VerifyTestMain(m)
}
