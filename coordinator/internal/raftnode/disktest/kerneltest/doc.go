// Package kerneltest stands between a process and the kernel: it sees each call
// that changes, opens or reads a file below one directory, in order, writes it
// down, and can answer one of them, or all from one on, with an error. What it
// wrote down is made into an Image, which knows what a loss of power at any
// moment may leave.
//
// The calls are caught by seccomp's notifications (Linux 5.19 or later; it takes
// no privilege). So nothing of the process is replaced: the Raft engine, which
// treats a file system that is not its own differently, and what the standard
// library does without one, are as they are in production. One goroutine of the
// process answers the calls, one after the other; it makes each call itself and
// then writes it down, so the order is the one that took place. A note is part
// of that order too: what is noted was true after the call before it, and before
// the one that follows.
//
// What an Image holds to be durable:
//
//   - What a file contains is durable after fsync or fdatasync of that file, and
//     not before; neither by a close nor by sync_file_range.
//   - A name is durable after fsync of the directory that has it, and not
//     before. So a file that was synced under a name that was not is gone, and so
//     is everything in a directory whose own name was not synced.
//   - A rename within a directory takes place as a whole or not at all. One
//     across directories is not modelled: the journal can't be read then.
//   - A sync that fails makes nothing durable, now or later: what was not synced
//     before it is lost at the next loss of power, although it can be read until
//     then. Linux does so with the pages that it failed to write.
//
// Of what is not durable, a loss of power leaves nothing (Synced), or something
// by chance: of each file the first changes, the last of them cut at a byte
// (First), or any of them (Scattered), so that a later write is there without an
// earlier one; what lies between is zero. Of each directory it leaves the first
// changes, as journals of file systems keep the order there. All is what a
// process leaves that ends while the machine goes on.
//
// Not covered: what a disk does with single sectors that were synced, mapped
// memory, calls that only look at names and attributes (stat, access, readlink),
// locks, and vectored writes, which end the process if somebody begins to use
// them.
package kerneltest
