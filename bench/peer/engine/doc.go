// Package engine is the bare Raft engine below this library: three nodes with
// the settings of coordinator/internal/raftnode, as many groups, and a state
// machine that does nothing. What it takes to propose there is the floor for
// whatever the library adds. The log store and the links are the engine's own.
//
// An acquire is a proposal, and a release does nothing.
package engine
