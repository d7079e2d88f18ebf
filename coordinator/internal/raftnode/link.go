package raftnode

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/lni/dragonboat/v4/config"
	"github.com/lni/dragonboat/v4/raftio"
	"github.com/lni/dragonboat/v4/raftpb"

	"github.com/palisade-go/palisade/statemachine"
	"github.com/palisade-go/palisade/transport"
)

// dialMax bounds how long a link may take to come up.
const dialMax = 5 * time.Second

// linkFactory makes the engine send through a transport.Network.
type linkFactory struct {
	network  transport.Network
	listen   string
	address  string // of this node, for its peers
	node     statemachine.NodeID
	members  []statemachine.NodeID
	groups   int
	election time.Duration
}

var _ config.TransportFactory = (*linkFactory)(nil)

// Create implements config.TransportFactory.
func (f *linkFactory) Create(host config.NodeHostConfig, messages raftio.MessageHandler, chunks raftio.ChunkHandler) raftio.ITransport {
	return &links{
		factory:    f,
		deployment: host.GetDeploymentID(),
		inbound: &inbound{
			node: f.node, members: f.members, groups: f.groups,
			messages: messages, chunks: chunks,
		},
	}
}

// Validate implements config.TransportFactory.
func (f *linkFactory) Validate(address string) bool { return addressForm(address) }

// links is the engine's transport on a transport.Network.
type links struct {
	factory    *linkFactory
	deployment uint64
	inbound    *inbound
	listener   io.Closer // nil before Start and after Close
}

var _ raftio.ITransport = (*links)(nil)

func (l *links) Name() string { return "palisade" }

// Start listens. The engine calls Close also when it failed.
func (l *links) Start() error {
	listener, err := l.factory.network.Listen(l.factory.listen, l.inbound)
	if err != nil {
		return fmt.Errorf("raftnode: listen on %s: %w", l.factory.listen, err)
	}
	l.listener = listener
	return nil
}

// Close returns when nothing is being received any more.
func (l *links) Close() error {
	if l.listener == nil {
		return nil
	}
	err := l.listener.Close()
	l.listener = nil
	return err
}

func (l *links) dial(ctx context.Context, target string, kind transport.Kind) (transport.Link, error) {
	ctx, cancel := context.WithTimeout(ctx, dialMax)
	defer cancel()
	link, err := l.factory.network.Dial(ctx, l.factory.address, target, kind)
	if err != nil {
		return nil, fmt.Errorf("raftnode: dial %s: %w", target, err)
	}
	return link, nil
}

// GetConnection implements raftio.ITransport. It does not dial yet.
func (l *links) GetConnection(ctx context.Context, target string) (raftio.IConnection, error) {
	return newStream(ctx, l.factory.election, func(ctx context.Context) (transport.Link, error) {
		return l.dial(ctx, target, transport.Messages)
	}, l.unreachable), nil
}

// GetSnapshotConnection implements raftio.ITransport. The engine ends ctx when it
// stops, and then waits for what is being sent; a peer that takes nothing, or is
// slow, must not hold that up.
func (l *links) GetSnapshotConnection(ctx context.Context, target string) (raftio.ISnapshotConnection, error) {
	link, err := l.dial(ctx, target, transport.Chunks)
	if err != nil {
		return nil, err
	}
	unbind := context.AfterFunc(ctx, func() { _ = link.Close() })
	return &outbound{link: boundLink{link, unbind}}, nil
}

// boundLink is a link that ends with a context.
type boundLink struct {
	transport.Link
	unbind func() bool
}

// Close implements transport.Link.
func (l boundLink) Close() error {
	l.unbind()
	return l.Link.Close()
}

// unreachable tells the engine that a replica of a peer was not reached, as
// its own transport does.
func (l *links) unreachable(group, replica uint64) {
	l.inbound.messages(raftpb.MessageBatch{
		DeploymentId: l.deployment, BinVer: raftio.TransportBinVersion,
		Requests: []raftpb.Message{{Type: raftpb.Unreachable, ShardID: group, From: replica, To: uint64(l.factory.node)}},
	})
}
