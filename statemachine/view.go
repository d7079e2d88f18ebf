package statemachine

import (
	"time"

	"github.com/palisade-go/palisade/token"
)

// Genesis is what all replicas of a group know before its first entry.
type Genesis struct {
	Group   GroupID
	Epoch   uint64 // top bits of the tokens; see token.New
	Members []NodeID
}

// Presence is what a group knows of a node. The zero value (Incarnation 0)
// belongs to a member that has not announced itself yet.
type Presence struct {
	Node        NodeID
	Directory   DirectoryID
	Incarnation Incarnation
	Last        BatchNumber // last batch applied
	Speaks      Version
	Left        bool
	Wall        int64 // of the last batch; for display only
}

// Lease is a granted request.
type Lease struct {
	ID     LeaseID
	Claims []Claim
	Token  token.Token
	TTL    time.Duration
	Limit  time.Duration
	// Last is the last batch of the owner's presence at the grant; zero when
	// the owner was an incarnation that is gone.
	Last      BatchNumber
	Place     uint64 // order of arrival in the group; oldest is lowest
	Since     int64  // see Holder.Since
	RequestID string
	Metadata  string
}

// Wait is a request in line.
type Wait struct {
	ID        LeaseID
	Claims    []Claim
	TTL       time.Duration
	Limit     time.Duration
	Place     uint64
	Since     int64 // wall clock of the batch that asked; for display only
	RequestID string
	Metadata  string
}

// KeyView is what a group knows of one key. A key that is free has none.
type KeyView struct {
	Key     string
	Holder  *Lease // nil: reserved by the first waiter, not held
	Waiters []Wait // in the order of service
}

// Meta is what a group knows of itself.
type Meta struct {
	Applied Index
	Epoch   uint64
	Counter uint64 // of the last token issued
	Version Version
	Place   uint64 // of the last request that arrived
}

// Record is one entry of the machine's image on disk. A nil Value deletes.
type Record struct{ Key, Value []byte }
