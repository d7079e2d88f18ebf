package statemachine

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// director carries out the commands of a scenario on a machine of the members
// 1, 2 and 3. Each command may be followed by a comment after " # ".
//
//	1: acquire 7 a,b wait ttl=5s   node 1's next batch; several commands are
//	                               parted by ";", none at all renews
//	1.2: …                         from here on the node is in incarnation 2
//	1#5: …                         the batch has number 5
//	1@9: …                         from directory 9; otherwise the node's number
//	again                          the last batch once more, byte for byte
//	leader: expire 1.1#3 ttl=5s    the leader's own commands
//	state                          the dump, without directories
//	restart                        go on from the image
//	counter 41                     the token counter stands at 41
//	version 0                      the group has that machine version
type director struct {
	t           *testing.T
	m           *Machine
	index       Index
	image       map[string]string // kept by TakeChanges
	incarnation map[NodeID]Incarnation
	number      map[NodeID]BatchNumber
	last        []byte
}

func newDirector(t *testing.T) *director {
	return &director{
		t: t, m: New(testGenesis), image: make(map[string]string),
		incarnation: make(map[NodeID]Incarnation), number: make(map[NodeID]BatchNumber),
	}
}

// testGenesis is the group that tests use.
var testGenesis = Genesis{Group: 1, Members: []NodeID{1, 2, 3}}

var directories = regexp.MustCompile(` directory=[0-9a-f]{32}`)

// run carries out one line and returns what happened, as text.
func (d *director) run(line string) (string, error) {
	line, _, _ = strings.Cut(line, " # ")
	line = strings.TrimSpace(line)
	if sender, commands, ok := strings.Cut(line, ":"); ok {
		b, err := d.batch(sender, commands)
		if err != nil {
			return "", err
		}
		return d.apply(b)
	}
	words := strings.Fields(line)
	switch words[0] {
	case "again":
		b, err := DecodeBatch(d.last)
		if err != nil {
			return "", err
		}
		return d.apply(b)
	case "state":
		return directories.ReplaceAllString(dump(d.t, d.m), ""), nil
	case "restart":
		m, err := Load(testGenesis, d.m.Records())
		if err != nil {
			return "", err
		}
		d.m = m
		return "", nil
	case "counter":
		n, err := strconv.ParseUint(words[1], 10, 64)
		d.m.meta.Counter = n
		d.m.changes.meta = true
		return "", err
	case "version":
		n, err := strconv.ParseUint(words[1], 10, 64)
		d.m.meta.Version = Version(n)
		d.m.changes.meta = true
		return "", err
	}
	return "", fmt.Errorf("unknown command %q", words[0])
}

// batch parses "node[.incarnation][#number][@directory]" and commands.
func (d *director) batch(sender, commands string) (Batch, error) {
	var b Batch
	if sender != "leader" {
		sender, directory, other := strings.Cut(sender, "@")
		sender, number, numbered := strings.Cut(sender, "#")
		node, incarnation, started := strings.Cut(sender, ".")
		b.Node = NodeID(mustUint(d.t, node))
		if d.incarnation[b.Node] == 0 {
			d.incarnation[b.Node] = 1
		}
		b.Incarnation = d.incarnation[b.Node]
		if started {
			b.Incarnation = Incarnation(mustUint(d.t, incarnation))
			if b.Incarnation > d.incarnation[b.Node] {
				d.incarnation[b.Node], d.number[b.Node] = b.Incarnation, 0
			}
		}
		b.Number = d.number[b.Node] + 1
		if numbered {
			b.Number = BatchNumber(mustUint(d.t, number))
		}
		if b.Incarnation == d.incarnation[b.Node] {
			d.number[b.Node] = max(d.number[b.Node], b.Number)
		}
		b.Directory[15] = byte(b.Node)
		if other {
			b.Directory[15] = byte(mustUint(d.t, directory))
		}
		b.Speaks = Binary
	}
	for _, text := range strings.Split(commands, ";") {
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		if words[0] == "speaks" || words[0] == "wall" {
			n := mustUint(d.t, words[1])
			if words[0] == "speaks" {
				b.Speaks = Version(n)
			} else {
				b.Wall = int64(n)
			}
			continue
		}
		c, err := d.command(words)
		if err != nil {
			return Batch{}, err
		}
		b.Commands = append(b.Commands, c)
	}
	return b, nil
}

// command parses one command: its name, positional words, then options.
func (d *director) command(words []string) (Command, error) {
	o := parseOptions(d.t, words[1:])
	switch words[0] {
	case "acquire":
		c := Acquire{
			Seq: Seq(o.uint(0)), Wait: o.flag("wait"), TTL: o.duration("ttl", 10*time.Second),
			Limit: o.duration("limit", 0), RequestID: o.value("request"), Metadata: o.value("metadata"),
			QueueMax: mustUint(d.t, "0"+o.value("queue")),
		}
		for _, key := range strings.Split(o.word(1), ",") {
			c.Claims = append(c.Claims, Claim{Key: key, Mode: Exclusive})
		}
		if o.flag("empty") {
			c.Claims = nil
		}
		if v := o.value("mode"); v != "" {
			c.Claims[0].Mode = Mode(mustUint(d.t, v))
		}
		return c, nil
	case "cancel":
		return Cancel{Seq: Seq(o.uint(0))}, nil
	case "release":
		return Release{Seq: Seq(o.uint(0))}, nil
	case "leave":
		return Leave{}, nil
	case "expire":
		owner, last, _ := strings.Cut(o.word(0), "#")
		node, incarnation, _ := strings.Cut(owner, ".")
		return Expire{
			Node: NodeID(mustUint(d.t, node)), Incarnation: Incarnation(mustUint(d.t, incarnation)),
			Last: BatchNumber(mustUint(d.t, last)), TTL: o.duration("ttl", 10*time.Second),
		}, nil
	case "limit":
		id := strings.Split(o.word(0), ".")
		return ExpireLimit{Lease: LeaseID{
			Node: NodeID(mustUint(d.t, id[0])), Incarnation: Incarnation(mustUint(d.t, id[1])),
			Seq: Seq(mustUint(d.t, id[2])),
		}}, nil
	case "sweep":
		return Sweep{Node: NodeID(o.uint(0))}, nil
	case "upgrade":
		return Upgrade{Version: Version(o.uint(0))}, nil
	case "unknown":
		return Unknown{Code: o.uint(0), Version: Version(o.uint(1))}, nil
	}
	return nil, fmt.Errorf("unknown command %q", words[0])
}

// apply sends the batch through its bytes into the machine, and checks that
// the image that its changes keep is the whole one.
func (d *director) apply(b Batch) (string, error) {
	var err error
	if d.last, err = AppendBatch(nil, b); err != nil {
		return "", err
	}
	if b, err = DecodeBatch(d.last); err != nil {
		return "", err
	}
	d.index++
	events := d.m.Apply(d.index, b)
	keepImage(d.image, d.m.TakeChanges())
	require.Equal(d.t, imageOf(d.m), d.image, "changes and records after index %d", d.index)
	if len(events) == 0 {
		return "(nothing)\n", nil
	}
	return eventText(events), nil
}

// keepImage applies changes to an image.
func keepImage(image map[string]string, changes []Record) {
	for _, rec := range changes {
		if rec.Value == nil {
			delete(image, string(rec.Key))
		} else {
			image[string(rec.Key)] = string(rec.Value)
		}
	}
}

// imageOf returns the whole image of the machine.
func imageOf(m *Machine) map[string]string {
	image := make(map[string]string)
	for key, value := range m.Records() {
		image[string(key)] = string(value)
	}
	return image
}

func dump(t testing.TB, m *Machine) string {
	var text strings.Builder
	require.NoError(t, m.Dump(&text))
	return text.String()
}

func mustUint(t testing.TB, s string) uint64 {
	n, err := strconv.ParseUint(s, 10, 64)
	require.NoError(t, err)
	return n
}

// options are the words of a command: positional, flags, name=value.
type options struct {
	t     testing.TB
	words []string
	named map[string]string
}

var flags = []string{"wait", "empty"}

func parseOptions(t testing.TB, words []string) options {
	o := options{t: t, named: make(map[string]string)}
	for _, w := range words {
		name, value, named := strings.Cut(w, "=")
		switch {
		case named:
			o.named[name] = value
		case slices.Contains(flags, w):
			o.named[w] = "yes"
		default:
			o.words = append(o.words, w)
		}
	}
	known := []string{"wait", "empty", "ttl", "limit", "request", "metadata", "queue", "mode"}
	for name := range maps.Keys(o.named) {
		require.Contains(t, known, name)
	}
	return o
}

func (o options) word(i int) string {
	if i >= len(o.words) {
		return ""
	}
	return o.words[i]
}

func (o options) uint(i int) uint64        { return mustUint(o.t, o.word(i)) }
func (o options) flag(name string) bool    { return o.named[name] != "" }
func (o options) value(name string) string { return o.named[name] }
func (o options) duration(name string, otherwise time.Duration) time.Duration {
	if o.named[name] == "" {
		return otherwise
	}
	d, err := time.ParseDuration(o.named[name])
	require.NoError(o.t, err)
	return d
}
