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
	network transport.Network
	node    statemachine.NodeID
	members []statemachine.NodeID
	groups  int
}

var _ config.TransportFactory = (*linkFactory)(nil)

// Create implements config.TransportFactory.
func (f *linkFactory) Create(host config.NodeHostConfig, messages raftio.MessageHandler, chunks raftio.ChunkHandler) raftio.ITransport {
	return &links{
		network: f.network,
		self:    host.GetListenAddress(),
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
	network  transport.Network
	self     string
	inbound  *inbound
	listener io.Closer // nil before Start and after Close
}

var _ raftio.ITransport = (*links)(nil)

func (l *links) Name() string { return "palisade" }

// Start listens. The engine calls Close also when it failed.
func (l *links) Start() error {
	listener, err := l.network.Listen(l.self, l.inbound)
	if err != nil {
		return fmt.Errorf("raftnode: listen on %s: %w", l.self, err)
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

func (l *links) dial(ctx context.Context, target string, kind transport.Kind) (*outbound, error) {
	ctx, cancel := context.WithTimeout(ctx, dialMax)
	defer cancel()
	link, err := l.network.Dial(ctx, l.self, target, kind)
	if err != nil {
		return nil, fmt.Errorf("raftnode: dial %s: %w", target, err)
	}
	return &outbound{link: link}, nil
}

// GetConnection implements raftio.ITransport.
func (l *links) GetConnection(ctx context.Context, target string) (raftio.IConnection, error) {
	link, err := l.dial(ctx, target, transport.Messages)
	if err != nil {
		return nil, err
	}
	return link, nil
}

// GetSnapshotConnection implements raftio.ITransport.
func (l *links) GetSnapshotConnection(ctx context.Context, target string) (raftio.ISnapshotConnection, error) {
	link, err := l.dial(ctx, target, transport.Chunks)
	if err != nil {
		return nil, err
	}
	return link, nil
}

// outbound is one link to a peer. The engine uses it from one goroutine.
type outbound struct {
	link   transport.Link
	buffer []byte
}

// Close implements raftio.IConnection and raftio.ISnapshotConnection.
func (o *outbound) Close() {
	// There is nobody to tell: the engine closes what it gave up, too.
	_ = o.link.Close()
}

// bufferMax is the largest buffer that is kept between two messages.
const bufferMax = 1 << 20

// marshaler is what can be sent.
type marshaler interface {
	Size() int
	MarshalTo([]byte) (int, error)
}

func (o *outbound) send(message marshaler) error {
	size := message.Size()
	if size > transport.FrameBytesMax {
		return fmt.Errorf("raftnode: a message of %d bytes does not fit into a frame of %d", size, transport.FrameBytesMax)
	}
	if cap(o.buffer) < size {
		o.buffer = make([]byte, size)
	}
	written, err := message.MarshalTo(o.buffer[:size])
	if err != nil {
		return fmt.Errorf("raftnode: encode a message: %w", err)
	}
	err = o.link.Send(o.buffer[:written])
	if cap(o.buffer) > bufferMax {
		o.buffer = nil
	}
	return err
}

// SendMessageBatch implements raftio.IConnection. A batch that does not fit
// into one frame goes as several: the engine's bound is that of the frame, but
// it counts without the envelope.
func (o *outbound) SendMessageBatch(batch raftpb.MessageBatch) error {
	requests := batch.Requests
	if len(requests) <= 1 || batch.Size() <= transport.FrameBytesMax {
		return o.send(&batch)
	}
	half := len(requests) / 2
	batch.Requests = requests[:half]
	if err := o.SendMessageBatch(batch); err != nil {
		return err
	}
	batch.Requests = requests[half:]
	return o.SendMessageBatch(batch)
}

// SendChunk implements raftio.ISnapshotConnection.
func (o *outbound) SendChunk(chunk raftpb.Chunk) error { return o.send(&chunk) }
