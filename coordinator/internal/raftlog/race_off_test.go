//go:build !race

package raftlog

const sample = 1
