package statemachine

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/palisade-go/palisade/token"
)

// recordKind is the first byte of a record's key. Part of the format; never
// renumber.
type recordKind uint8

const (
	recordMeta     recordKind = 1
	recordPresence recordKind = 2
	recordLease    recordKind = 3
	recordWait     recordKind = 4
)

// recordFormat is the version of the values below, their first byte.
const recordFormat = 1

// The image of a machine is one record a thing, so that a change costs the
// same whatever the length of a queue. Keys sort by kind, node, incarnation,
// seq; numbers in keys are big endian.
//
//	          +-------+
//	meta      | 0x01  |
//	          | 1 byte|
//	          +-------+---------+
//	presence  | 0x02  |  node   |
//	          | 1 byte| 8 bytes |
//	          +-------+---------+-------------+---------+
//	lease     | 0x03  |  node   | incarnation |   seq   |
//	wait      | 0x04  | 8 bytes |   8 bytes   | 8 bytes |
//	          +-------+---------+-------------+---------+
//
// Values begin with the format; the rest are msgpack values in their shortest
// form, texts are bins, durations and wall clocks are nanoseconds. In the meta
// format and version keep their places for ever, so that every binary finds
// out that an image is newer than itself.
//
//	          +--------+---------+-------+---------+-------+---------+-------+
//	meta      | format | version | group | applied | epoch | counter | place |
//	          | 1 byte |  uint   | uint  |  uint   | uint  |  uint   | uint  |
//	          +--------+---------+-------+---------+-------+---------+-------+
//	          +--------+-----------+-------------+------+--------+------+------+
//	presence  | format | directory | incarnation | last | speaks | left | wall |
//	          | 1 byte |  bin(16)  |    uint     | uint |  uint  | bool | int  |
//	          +--------+-----------+-------------+------+--------+------+------+
//	          +--------+-------+------+--------------------------------+
//	lease     | format | token | last | request                        |
//	          | 1 byte | uint  | uint |                                |
//	          +--------+-------+------+--------------------------------+
//	wait      | format | request                                       |
//	          | 1 byte |                                               |
//	          +--------+-----------------------------------------------+
//	          +-----+-------+-------+-------+------------+------------+-------+--------+
//	request   | TTL | limit | place | since | request id |  metadata  | count | claims |
//	          | int |  int  | uint  |  int  | bin(..128) | bin(..1024)| uint  |        |
//	          +-----+-------+-------+-------+------------+------------+-------+--------+
//
// A claim is written as in a batch.

// metaValue is the meta with the group that it belongs to.
type metaValue struct {
	Meta
	group GroupID
}

func (rw *recordWriter) meta(m metaValue) Record {
	w := rw.begin(recordMeta, LeaseID{})
	w.uint(uint64(m.Version))
	w.uint(uint64(m.group))
	w.uint(uint64(m.Applied))
	w.uint(m.Epoch)
	w.uint(m.Counter)
	w.uint(m.Place)
	return rw.end()
}

func (r *reader) meta() metaValue {
	version := Version(r.uint("version"))
	if r.err == nil && version > Binary {
		r.err = fmt.Errorf("%w: the image has machine version %d, this binary knows %d", ErrNewer, version, Binary)
	}
	return metaValue{
		group: GroupID(r.uint("group")),
		Meta: Meta{
			Version: version,
			Applied: Index(r.uint("applied")),
			Epoch:   r.uint("epoch"),
			Counter: r.uint("counter"),
			Place:   r.uint("place"),
		},
	}
}

func (rw *recordWriter) presence(p Presence) Record {
	w := rw.begin(recordPresence, LeaseID{Node: p.Node})
	w.bin("directory", string(p.Directory[:]), len(p.Directory))
	w.uint(uint64(p.Incarnation))
	w.uint(uint64(p.Last))
	w.uint(uint64(p.Speaks))
	w.bool(p.Left)
	w.int(p.Wall)
	return rw.end()
}

func (r *reader) presence(node NodeID) Presence {
	return Presence{
		Node:        node,
		Directory:   r.directory(),
		Incarnation: Incarnation(r.uint("incarnation")),
		Last:        BatchNumber(r.uint("last")),
		Speaks:      Version(r.uint("speaks")),
		Left:        r.bool("left"),
		Wall:        r.int("wall"),
	}
}

func (rw *recordWriter) lease(l Lease) Record {
	w := rw.begin(recordLease, l.ID)
	w.uint(uint64(l.Token))
	w.uint(uint64(l.Last))
	w.request(l.wait())
	return rw.end()
}

func (r *reader) lease(id LeaseID) Lease {
	tok, last := token.Token(r.uint("token")), BatchNumber(r.uint("last"))
	l := r.request(id)
	l.Token, l.Last = tok, last
	return l
}

// wait returns the part of a lease that it has in common with a wait.
func (l Lease) wait() Wait {
	return Wait{
		ID: l.ID, Claims: l.Claims, TTL: l.TTL, Limit: l.Limit,
		Place: l.Place, Since: l.Since, RequestID: l.RequestID, Metadata: l.Metadata,
	}
}

func (rw *recordWriter) wait(w Wait) Record {
	rw.begin(recordWait, w.ID).request(w)
	return rw.end()
}

// none returns the record that deletes the one of a lease or wait.
func (rw *recordWriter) none(kind recordKind, id LeaseID) Record {
	rw.begin(kind, id)
	return Record{Key: rw.end().Key}
}

// request returns the record of a request that is not over.
func (rw *recordWriter) request(r *request) Record {
	rw.claims = r.appendClaims(rw.claims[:0])
	if r.phase == held {
		return rw.lease(r.leaseOn(rw.claims))
	}
	return rw.wait(r.leaseOn(rw.claims).wait())
}

func (w *writer) request(r Wait) {
	w.int(int64(r.TTL))
	w.int(int64(r.Limit))
	w.uint(r.Place)
	w.int(r.Since)
	w.bin("request id", r.RequestID, RequestIDBytesMax)
	w.bin("metadata", r.Metadata, MetadataBytesMax)
	w.claims(r.Claims)
}

// request reads what a lease and a wait have in common.
func (r *reader) request(id LeaseID) Lease {
	return Lease{
		ID:        id,
		TTL:       time.Duration(r.int("TTL")),
		Limit:     time.Duration(r.int("limit")),
		Place:     r.uint("place"),
		Since:     r.int("since"),
		RequestID: r.bin("request id", RequestIDBytesMax),
		Metadata:  r.bin("metadata", MetadataBytesMax),
		Claims:    r.claims(),
	}
}

// record is what one record says: the field of its kind.
type record struct {
	kind     recordKind
	meta     metaValue
	presence Presence
	lease    Lease // of a wait as well: without token and batch
}

// recordDecoder reads records. There can be millions, so it is made once.
type recordDecoder struct{ r *reader }

func newRecordDecoder() *recordDecoder {
	r := newReader(nil)
	r.room = make([]Claim, 0, 1)
	return &recordDecoder{r}
}

// close gives back what the decoder has borrowed.
func (d *recordDecoder) close() { d.r.close() }

// decode reads one record. Like DecodeBatch it checks every length, accepts only
// the form that is written, and turns a panic of the msgpack library into an
// error, because no state has been touched yet. The claims are valid until the
// next call.
func (d *recordDecoder) decode(key, value []byte) (rec record, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			rec, err = record{}, fmt.Errorf("%w: decoder panicked: %v", ErrMalformed, cause)
		}
	}()
	kind, id, err := splitKey(key)
	if err != nil {
		return record{}, err
	}
	rec.kind = kind
	r := d.r
	r.reset(value)
	if r.format("record format", recordFormat) {
		switch kind {
		case recordMeta:
			rec.meta = r.meta()
		case recordPresence:
			rec.presence = r.presence(id.Node)
		case recordLease:
			rec.lease = r.lease(id)
		default: // recordWait: splitKey admits no other
			rec.lease = r.request(id)
		}
	}
	if r.end("value"); r.err != nil {
		return record{}, r.err
	}
	return rec, nil
}

// recordWriter writes records one behind the other, so that many of them cost no
// more allocations than one. What the machine has is within the bounds, so
// writing can't fail.
type recordWriter struct {
	w           *writer
	start, body int     // of the record being written, in the buffer
	claims      []Claim // of one request after the other
}

// newRecordWriter returns a writer with room for records of so many bytes; more
// make it grow.
func newRecordWriter(bytes int) *recordWriter {
	return &recordWriter{w: newWriter(make([]byte, 0, bytes))}
}

// close gives back what the writer has borrowed. The records stay.
func (rw *recordWriter) close() { _, _ = rw.w.finish() }

// begin writes a key, with what of id belongs to the kind, and the format. It
// returns what writes the rest.
func (rw *recordWriter) begin(kind recordKind, id LeaseID) *writer {
	w := rw.w
	buf := append(w.buf, byte(kind))
	if kind != recordMeta {
		buf = binary.BigEndian.AppendUint64(buf, uint64(id.Node))
	}
	if kind == recordLease || kind == recordWait {
		buf = binary.BigEndian.AppendUint64(buf, uint64(id.Incarnation))
		buf = binary.BigEndian.AppendUint64(buf, uint64(id.Seq))
	}
	rw.start, rw.body = len(w.buf), len(buf)
	w.buf = append(buf, recordFormat)
	return w
}

// end returns the record.
func (rw *recordWriter) end() Record {
	buf := rw.w.buf
	r := Record{Key: buf[rw.start:rw.body:rw.body], Value: buf[rw.body:len(buf):len(buf)]}
	if rw.w.err != nil {
		broken("record %x: %w", r.Key, rw.w.err)
	}
	return r
}

// splitKey reads a record's key: kind and up to three numbers.
func splitKey(key []byte) (kind recordKind, id LeaseID, err error) {
	if len(key) == 0 {
		return 0, LeaseID{}, fmt.Errorf("%w: empty key", ErrMalformed)
	}
	kind = recordKind(key[0])
	numbers := 0
	switch kind {
	case recordMeta:
	case recordPresence:
		numbers = 1
	case recordLease, recordWait:
		numbers = 3
	default:
		return 0, LeaseID{}, fmt.Errorf("%w: unknown kind %d", ErrMalformed, kind)
	}
	if rest := len(key) - 1; rest != numbers*8 {
		return 0, LeaseID{}, fmt.Errorf("%w: %d bytes after the kind, expected %d", ErrMalformed, rest, numbers*8)
	}
	if numbers > 0 {
		id.Node = NodeID(binary.BigEndian.Uint64(key[1:]))
	}
	if numbers > 1 {
		id.Incarnation = Incarnation(binary.BigEndian.Uint64(key[9:]))
		id.Seq = Seq(binary.BigEndian.Uint64(key[17:]))
	}
	return kind, id, nil
}
