package raftnode

import (
	"fmt"
	"slices"

	"github.com/lni/dragonboat/v4/config"
	"github.com/lni/dragonboat/v4/raftio"

	"github.com/palisade-go/palisade/statemachine"
)

// registry tells the engine where a replica is reached. Replica ids are node
// ids, so there is nothing to learn from messages: what the engine adds or
// removes is not needed.
//
// Resolve runs in the engine's step loop, for each message. The connection's
// key is the address, so a node that moved gets a new connection at once, and
// the engine drops the old one when it is idle for a minute.
type registry struct {
	members []statemachine.NodeID
	resolve func(statemachine.NodeID) (string, error)
}

// Create implements config.NodeRegistryFactory.
func (r *registry) Create(string, uint64, config.TargetValidator) (raftio.INodeRegistry, error) {
	return r, nil
}

func (r *registry) Resolve(_, replica uint64) (address, key string, err error) {
	node := statemachine.NodeID(replica)
	if !slices.Contains(r.members, node) {
		return "", "", fmt.Errorf("raftnode: node %d is not a member", node)
	}
	address, err = r.resolve(node)
	return address, address, err
}

func (r *registry) Add(uint64, uint64, string) {}
func (r *registry) Remove(uint64, uint64)      {}
func (r *registry) RemoveShard(uint64)         {}
func (r *registry) Close() error               { return nil }
