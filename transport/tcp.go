package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"
)

// Defaults of TCPConfig.
const (
	DefaultHandshake = 3 * time.Second
	DefaultStall     = 10 * time.Second
)

// TCPConfig is what NewTCP needs.
type TCPConfig struct {
	// Member is this node. One node has at most 128 links to a listener, its
	// Admit counts toward the time of a handshake.
	Member
	// TLS says how nodes prove who they are. Required: name files, or say
	// Insecure for plaintext, which is logged.
	TLS TLS

	// ClusterName is the cluster's name in the certificates, see NodeURI.
	// Required unless TLS is Insecure.
	ClusterName string
	// Handshake is how long a connection may take from its first packet to
	// its first frame. Longer helps on slow ways; shorter finds out sooner
	// that a host is gone when one dials it. Default: 3 s.
	Handshake time.Duration
	// Logger takes what no return value can tell, each sort at most every
	// 10 s. Default: nothing is logged.
	Logger *slog.Logger
	// Stall is how long a link may go without progress before it breaks: for
	// a sender whose peer takes nothing, for a receiver inside a frame, and
	// for packets that nobody acknowledges. An idle link stays. Longer than
	// any Receive is expected to take. Default: 10 s.
	Stall time.Duration
}

// withDefaults returns the configuration with every default filled in.
func (c TCPConfig) withDefaults() TCPConfig {
	c.Member = c.Member.withDefaults()
	if c.Handshake == 0 {
		c.Handshake = DefaultHandshake
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if c.Stall == 0 {
		c.Stall = DefaultStall
	}
	return c
}

// validate reports every problem of a configuration with its defaults, except
// for what is in the files.
func (c TCPConfig) validate() error {
	var problems []error
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if err := c.Member.check(); err != nil {
		wrong("%w", err)
	}
	if err := c.TLS.Validate(); err != nil {
		wrong("%w", err)
	} else if !c.TLS.IsInsecure() {
		if _, err := NodeURI(c.ClusterName, max(c.Self.Node, 1)); err != nil {
			wrong("ClusterName: %w", err)
		}
	}
	if c.Handshake < 0 {
		wrong("Handshake is %v: must be above zero", c.Handshake)
	}
	if c.Stall < 0 {
		wrong("Stall is %v: must be above zero", c.Stall)
	}
	if len(problems) > 0 {
		return fmt.Errorf("%w: %w", ErrInvalid, errors.Join(problems...))
	}
	return nil
}

// TCP is a network over TCP, with TLS unless it is Insecure. See the package
// comment for its rules and its wire formats. All methods are safe for
// concurrent use.
//
// A link costs two goroutines and buffers of 80 KiB at its sending end, and one
// goroutine and 16 KiB at its receiving end, besides what TLS needs. Its queue
// takes 1024 frames and 64 MiB, the sockets come on top of it.
type TCP struct {
	cfg   TCPConfig
	files *credentialsSource // nil when Insecure
	pace  pace
	// resolve looks a host name up.
	resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	// ending ends when Close begins.
	ending context.Context
	end    context.CancelFunc
	// running counts dials and the goroutines of dialled links. It grows only
	// with mu held and closed false, or while it is above zero.
	running sync.WaitGroup

	mu        sync.Mutex
	closed    bool
	listeners map[string]*tcpListener // by what they are bound to
	links     map[*tcpLink]struct{}   // dialled, until their goroutines end
}

var (
	_ Network   = (*TCP)(nil)
	_ Link      = (*tcpLink)(nil)
	_ io.Closer = (*TCP)(nil)
)

// NewTCP returns a network that neither listens nor dials yet. It reads the
// files of cfg.TLS. Errors: ErrInvalid with every problem of cfg; what is
// wrong with the files. The caller has to Close it.
func NewTCP(cfg TCPConfig) (*TCP, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	t := &TCP{
		cfg:       cfg,
		listeners: make(map[string]*tcpListener),
		links:     make(map[*tcpLink]struct{}),
		resolve: func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		},
	}
	if cfg.TLS.IsInsecure() {
		cfg.Logger.Warn("transport: the network is insecure: whoever reaches the port can read everything and be any node",
			"node", cfg.Self.Node)
	} else {
		self, err := NodeURI(cfg.ClusterName, cfg.Self.Node)
		if err != nil {
			return nil, err
		}
		if t.files, err = newCredentialsSource(cfg.TLS, self, cfg.Logger); err != nil {
			return nil, err
		}
	}
	t.ending, t.end = context.WithCancel(context.Background())
	return t, nil
}

// Close ends the network: every link breaks, every listener closes, dials that
// wait return ErrClosed, and so does every later Listen and Dial. It waits
// until no Receive runs, so it must not be called from one; it waits for
// nothing else that is not bounded, if Admit is. A second Close waits alike.
// It returns nil.
func (t *TCP) Close() error {
	t.mu.Lock()
	t.closed = true
	t.end()
	for link := range t.links {
		link.fail("the network closed")
	}
	var open []*tcpListener
	for _, ln := range t.listeners {
		ln.shut()
		open = append(open, ln)
	}
	t.mu.Unlock()
	for _, ln := range open {
		if err := ln.Close(); err != nil {
			return err
		}
	}
	t.running.Wait()
	return nil
}

// begin counts one that runs; false when the network is closed.
func (t *TCP) begin() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.running.Add(1)
	return true
}

// warn logs an event that others can cause, unless its sort was logged a short
// while ago.
func (t *TCP) warn(sort, text string, args ...any) {
	if skipped, ok := t.pace.pass(sort, time.Now()); ok {
		t.cfg.Logger.Warn("transport: "+text, append(args, "node", t.cfg.Self.Node, "skipped", skipped)...)
	}
}
