package raftlog

const killChildEnv = "RAFTLOG_TEST_KILL"
