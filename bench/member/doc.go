// Package member starts the processes of a cluster: other programs, or this one
// again in the role of a member, which is asked for things over a socket that
// it inherits. None outlives the benchmark: the kernel kills them with it.
package member
