package main

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"time"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/transport"
)

// members are the nodes of the cluster.
var members = []coordinator.NodeID{1, 2, 3}

// Short ones, so that there is something to see soon.
const (
	electionTimeout = 500 * time.Millisecond
	ttl             = 4 * time.Second
)

// node is a node and what is to be seen of it.
type node struct {
	*coordinator.Coordinator
	*sight
}

type nodes []*node

// openNodes starts three nodes with their data below dir, and waits until they
// know their leader. Also on failure those that it returns have to be closed.
func openNodes(ctx context.Context, dir string, s *site) (all nodes, err error) {
	peers := map[coordinator.NodeID]string{}
	for _, id := range members {
		if peers[id], err = freeAddress(); err != nil {
			return nil, err
		}
	}
	for _, id := range members {
		sight := s.sightOf(id)
		c, err := coordinator.Open(ctx, coordinator.Config{
			Dir:     filepath.Join(dir, fmt.Sprintf("node-%d", id)),
			Cluster: "observed", NodeID: id, Peers: peers, TLS: transport.Insecure,
			ElectionTimeout: electionTimeout, TTL: ttl, Groups: 3,
			Observers: sight.observers(),
		})
		if err != nil {
			return all, fmt.Errorf("node %d: %w", id, err)
		}
		sight.watch(c)
		all = append(all, &node{c, sight})
	}
	for _, n := range all {
		if err := n.WaitReady(ctx); err != nil {
			return all, err
		}
	}
	return all, nil
}

// close closes all nodes at once.
func (all nodes) close() {
	var closing sync.WaitGroup
	for _, n := range all {
		closing.Add(1)
		go func() {
			defer closing.Done()
			_ = n.Close() // the program ends anyway
		}()
	}
	closing.Wait()
}

// freeAddress returns an address of the loopback interface that was free a moment
// ago.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}
