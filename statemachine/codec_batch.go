package statemachine

import "fmt"

// batchFormat is the version of the form below, the first byte of a batch. It
// changes only together with the machine version, so that no binary in a group
// meets a batch that it can't read.
const batchFormat = 1

// A batch, as it stands in a log entry. All numbers are msgpack integers in
// their shortest form, all texts msgpack bins: equal batches have equal bytes.
//
//	+--------+------+-----------+-------------+--------+--------+------+-------+----------+
//	| format | node | directory | incarnation | number | speaks | wall | count | commands |
//	| 1 byte | uint |  bin(16)  |    uint     |  uint  |  uint  | int  | uint  |          |
//	+--------+------+-----------+-------------+--------+--------+------+-------+----------+
//
// A command. The version is that of the machine in which this form of the
// command first had a meaning; it is looked at before the body.
//
//	+------+---------+----------------------+
//	| code | version | body                 |
//	| uint |  uint   | bin(length of body)  |
//	+------+---------+----------------------+
//
// Bodies, by code and version:
//
//	             +-----+------+-----+-------+------------+----------+-----------+-------+--------+
//	1.1 Acquire  | seq | wait | TTL | limit | request id | metadata | queue max | count | claims |
//	             |uint | bool | int |  int  | bin(..128) |bin(..1024)|   uint   | uint  |        |
//	             +-----+------+-----+-------+------------+----------+-----------+-------+--------+
//	                                                       +------+------------+
//	                                               a claim | mode | key        |
//	                                                       | uint | bin(..512) |
//	                                                       +------+------------+
//	             +-----+
//	2.1 Cancel   | seq |                     durations are nanoseconds
//	3.1 Release  |uint |
//	             +-----+
//	4.1 Leave    (empty)
//	             +------+-------------+------+-----+
//	5.1 Expire   | node | incarnation | last | TTL |
//	             | uint |    uint     | uint | int |
//	             +------+-------------+------+-----+
//	             +------+-------------+------+
//	6.1 Expire-  | node | incarnation | seq  |
//	    Limit    | uint |    uint     | uint |
//	             +------+-------------+------+
//	             +------+                    +---------+
//	7.1 Sweep    | node |        8.1 Upgrade | version |
//	             | uint |                    |  uint   |
//	             +------+                    +---------+

// commandBytesMin is the length of the shortest command: code, version, head
// of an empty body.
const commandBytesMin = 4

// AppendBatch appends the encoded batch to dst. The error names the bound of
// the format that the batch exceeds, or the command that has no form; dst is
// unchanged then. It does not judge what the machine will judge.
func AppendBatch(dst []byte, b Batch) ([]byte, error) {
	w := newWriter(append(dst, batchFormat))
	w.uint(uint64(b.Node))
	w.bin("directory", string(b.Directory[:]), len(b.Directory))
	w.uint(uint64(b.Incarnation))
	w.uint(uint64(b.Number))
	w.uint(uint64(b.Speaks))
	w.int(b.Wall)
	w.count("commands", len(b.Commands), CommandsMax)
	for i, c := range b.Commands {
		if w.err != nil {
			break
		}
		if w.command(c); w.err != nil {
			w.err = fmt.Errorf("command %d: %w", i, w.err)
		}
	}
	data, err := w.finish()
	if err == nil && len(data)-len(dst) > BatchBytesMax {
		err = fmt.Errorf("batch has %d bytes, at most %d are allowed", len(data)-len(dst), BatchBytesMax)
	}
	if err != nil {
		return dst, fmt.Errorf("statemachine: encode batch: %w", err)
	}
	return data, nil
}

// DecodeBatch decodes what AppendBatch encoded, and nothing else: every length
// is checked against the bytes that are there and the bounds of the format
// before anything is allocated, and bytes too many are refused. Commands that
// this binary does not know become Unknown. All errors wrap ErrMalformed; that
// of a later format wraps ErrNewer as well. The batch shares no memory with
// data. Decoding of an encoded batch gives an equal one, with nil for empty
// slices.
func DecodeBatch(data []byte) (b Batch, err error) {
	// The one place where a panic is recovered: the bytes may come from
	// anywhere, and no state has been touched yet.
	defer func() {
		if cause := recover(); cause != nil {
			b, err = Batch{}, fmt.Errorf("%w: batch: decoder panicked: %v", ErrMalformed, cause)
		}
	}()
	if len(data) > BatchBytesMax {
		return Batch{}, fmt.Errorf("%w: batch of %d bytes, at most %d are allowed", ErrMalformed, len(data), BatchBytesMax)
	}
	r := newReader(data)
	if r.format("batch format", batchFormat) {
		b = r.batch()
	}
	if err := r.finish("batch"); err != nil {
		return Batch{}, err
	}
	return b, nil
}

func (r *reader) batch() Batch {
	b := Batch{
		Node:        NodeID(r.uint("node")),
		Directory:   r.directory(),
		Incarnation: Incarnation(r.uint("incarnation")),
		Number:      BatchNumber(r.uint("number")),
		Speaks:      Version(r.uint("speaks")),
		Wall:        r.int("wall"),
	}
	n := r.count("commands", CommandsMax, commandBytesMin)
	if n == 0 {
		return b
	}
	b.Commands = make([]Command, 0, n)
	for range n {
		c := r.command()
		if r.err != nil {
			return Batch{}
		}
		b.Commands = append(b.Commands, c)
	}
	return b
}

// format reads a format version and says whether it is the known one.
func (r *reader) format(field string, known byte) bool {
	v := r.byte(field)
	if r.err == nil && v > known {
		r.err = fmt.Errorf("%w: %w: %s %d, this binary knows %d", ErrMalformed, ErrNewer, field, v, known)
	}
	if r.err == nil && v != known {
		r.fail("%s %d, expected %d", field, v, known)
	}
	return r.err == nil
}

func (r *reader) directory() DirectoryID {
	var d DirectoryID
	s := r.bin("directory", len(d))
	if r.err == nil && len(s) != len(d) {
		r.fail("directory: %d bytes, expected %d", len(s), len(d))
	}
	copy(d[:], s)
	return d
}
