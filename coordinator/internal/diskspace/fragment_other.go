//go:build !linux

package diskspace

import "golang.org/x/sys/unix"

// fragmentBytes returns the unit in which the blocks are counted.
func fragmentBytes(stat *unix.Statfs_t) uint64 { return uint64(stat.Bsize) }
