package raftnode

import (
	"fmt"

	"github.com/lni/dragonboat/v4/raftio"
	"github.com/lni/dragonboat/v4/raftpb"

	"github.com/palisade-go/palisade/transport"
)

// outbound puts what the engine sends into the frames of one link. The engine
// uses it from one goroutine.
type outbound struct {
	link   transport.Link
	buffer []byte
}

var _ raftio.ISnapshotConnection = (*outbound)(nil)

// Close implements raftio.ISnapshotConnection.
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

// sendBatch sends messages in their order. A batch that does not fit into one
// frame goes as several: the engine's bound is that of the frame, but it
// counts without the envelope.
func (o *outbound) sendBatch(batch raftpb.MessageBatch) error {
	requests := batch.Requests
	if len(requests) <= 1 || batch.Size() <= transport.FrameBytesMax {
		return o.send(&batch)
	}
	half := len(requests) / 2
	batch.Requests = requests[:half]
	if err := o.sendBatch(batch); err != nil {
		return err
	}
	batch.Requests = requests[half:]
	return o.sendBatch(batch)
}

// SendChunk implements raftio.ISnapshotConnection.
func (o *outbound) SendChunk(chunk raftpb.Chunk) error { return o.send(&chunk) }
