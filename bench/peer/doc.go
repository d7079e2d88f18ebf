// Package peer says what a benchmark needs of something that gives out locks: a
// Peer opens a Cluster, whose clients live at Sites. Each peer has a package of
// its own below this one.
package peer
