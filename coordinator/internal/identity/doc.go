// Package identity keeps what says who a node is, in its data directory:
//
//	LOCK           held (flock) while a process has the directory open
//	identity.json  format, node id, directory id and birth certificate;
//	               written once, never changed
//	incarnation    which start of the node this is, a decimal number; raised
//	               and synced before anything else is done with it
//	peers.json     what is remembered of the other members: which directory
//	               each came with, and its newest start; and whether this
//	               directory may take part
//
// The birth certificate is what all members must agree on, as it was when the
// cluster was born. Its hash is the engine's deployment id, so members with
// different certificates don't talk to one another.
package identity
