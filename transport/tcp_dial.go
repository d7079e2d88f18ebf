package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// dialStagger is how long a dial waits for one address of a name before it
// tries the next beside it.
const dialStagger = 250 * time.Millisecond

// Dial implements Network. to is host:port; a name is looked up each time, and
// all its addresses are tried, one after the other and beside it, up to the
// end of the handshake; the first to be done is taken. from, of at most 512
// bytes, is what the listener's handler has as Address; who this node is, the
// handshake tells.
//
// It waits for what is slow, but for each address at most TCPConfig.Handshake.
// It costs three round trips, two when Insecure, besides looking up the name.
//
// Errors, besides those that Network names: *RefusedError (ErrRefused).
func (t *TCP) Dial(ctx context.Context, from, to string, kind Kind) (Link, error) {
	if err := checkDial(from, to, kind); err != nil {
		return nil, err
	}
	if len(from) > fromBytesMax || strings.ToValidUTF8(from, "") != from {
		return nil, fmt.Errorf("%w: dial to %q: the caller's own address has %d bytes and must be UTF-8 of 1 to %d",
			ErrInvalid, to, len(from), fromBytesMax)
	}
	host, port, err := net.SplitHostPort(to)
	if err == nil && (host == "" || port == "") {
		err = errors.New("host and port are both needed")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: dial from %q to %q: %w", ErrInvalid, from, to, err)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("transport: dial from %q to %q: %w", from, to, err)
	}
	if !t.begin() {
		return nil, fmt.Errorf("%w: dial from %q to %q", ErrClosed, from, to)
	}
	defer t.running.Done()
	d := dialling{network: t, way: direction{from: from, to: to}, kind: kind}
	s, err := d.run(ctx, host, port)
	if err != nil {
		return nil, err
	}
	return t.open(s, d.way)
}

// open begins to send over a session.
func (t *TCP) open(s *session, way direction) (Link, error) {
	link := newTCPLink(s, way, t.cfg.Stall)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		s.raw.Close()
		return nil, fmt.Errorf("%w: dial from %q to %q", ErrClosed, way.from, way.to)
	}
	t.links[link] = struct{}{}
	t.running.Add(2)
	go func() {
		defer t.running.Done()
		link.watch()
	}()
	go func() {
		defer t.running.Done()
		link.write()
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.links, link)
	}()
	return link, nil
}

// dialling is one dial on its way.
type dialling struct {
	network *TCP
	way     direction
	kind    Kind
}

// attempt is how one address went.
type attempt struct {
	session *session
	err     error
}

// run returns a session that has said yes, or why there is none.
func (d dialling) run(ctx context.Context, host, port string) (*session, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(d.network.ending, cancel)()
	addresses, err := d.lookUp(ctx, host, port)
	if err != nil {
		return nil, d.failure(ctx, []error{err})
	}
	results := make(chan attempt)
	try := func(address netip.AddrPort) {
		defer d.network.running.Done()
		s, err := d.attempt(ctx, address)
		select {
		case results <- attempt{s, err}:
		case <-ctx.Done(): // another one was first, or nobody waits any more
			if err == nil {
				s.raw.Close()
			}
		}
	}
	var failures []error
	next, waiting := 0, 0
	stagger := time.NewTimer(0)
	defer stagger.Stop()
	for next < len(addresses) || waiting > 0 {
		select {
		case <-stagger.C:
		case done := <-results:
			if done.err == nil {
				return done.session, nil
			}
			failures = append(failures, done.err)
			waiting--
		case <-ctx.Done():
			return nil, d.failure(ctx, failures)
		}
		if next < len(addresses) {
			d.network.running.Add(1) // above zero: Dial itself is counted
			go try(addresses[next])
			next, waiting = next+1, waiting+1
			stagger.Reset(dialStagger)
		}
	}
	return nil, d.failure(ctx, failures)
}

// lookUp returns the addresses of a host with a port.
func (d dialling) lookUp(ctx context.Context, host, port string) ([]netip.AddrPort, error) {
	number, err := net.DefaultResolver.LookupPort(ctx, "tcp", port)
	if err != nil {
		return nil, err
	}
	found := []netip.Addr{}
	if literal, err := netip.ParseAddr(host); err == nil {
		found = append(found, literal)
	} else if found, err = d.network.resolve(ctx, host); err != nil {
		return nil, err
	}
	var addresses []netip.AddrPort
	for _, addr := range found {
		addresses = append(addresses, netip.AddrPortFrom(addr, uint16(number)))
	}
	if len(addresses) == 0 {
		return nil, fmt.Errorf("the name %s has no address", strconv.Quote(host))
	}
	return addresses, nil
}

// attempt dials one address up to the end of the handshake.
func (d dialling) attempt(ctx context.Context, address netip.AddrPort) (*session, error) {
	cfg := d.network.cfg
	ctx, cancel := context.WithTimeout(ctx, cfg.Handshake)
	defer cancel()
	deadline, _ := ctx.Deadline()
	var dialer net.Dialer
	dialer.SetMultipathTCP(false)
	raw, err := dialer.DialContext(ctx, "tcp", address.String())
	if err != nil {
		return nil, err
	}
	s := newSession(raw, Peer{Address: d.way.to})
	s.kind = d.kind
	// Whatever waits on the connection ends with ctx.
	release := context.AfterFunc(ctx, func() { raw.Close() })
	if err = d.greet(ctx, s); err != nil {
		s.part(deadline)
	}
	inTime := release()
	var refused *RefusedError
	switch {
	case errors.As(err, &refused):
		return nil, refused
	case !inTime: // raw is closed, also when greet was just done
		return nil, fmt.Errorf("%s: no answer in time", address)
	case err != nil:
		return nil, fmt.Errorf("%s: the handshake was broken off: %w", address, err)
	}
	return s, nil
}

// greet makes the handshake.
func (d dialling) greet(ctx context.Context, s *session) error {
	t := d.network
	if err := setSocket(s.raw, t.cfg.Stall); err != nil {
		return err
	}
	if err := s.secureDialled(ctx, t.files); err != nil {
		return err
	}
	return s.greetDialled(t.cfg.Self, d.way.from, func() *RefusedError {
		return s.judge(t.cfg.Member, t.cfg.ClusterName)
	})
}

// failure makes one error of those of all addresses: of a dial that ended from
// outside, why; of a refusal, that, as it tells more than others; or else
// ErrUnreachable.
func (d dialling) failure(ctx context.Context, failures []error) error {
	switch {
	case d.network.ending.Err() != nil:
		return fmt.Errorf("%w: dial from %q to %q", ErrClosed, d.way.from, d.way.to)
	case ctx.Err() != nil:
		return fmt.Errorf("transport: dial from %q to %q: %w", d.way.from, d.way.to, ctx.Err())
	}
	var texts []string
	for _, err := range failures {
		var refused *RefusedError
		if errors.As(err, &refused) {
			return refused
		}
		texts = append(texts, err.Error())
	}
	return fmt.Errorf("%w: from %q to %q: %s", ErrUnreachable, d.way.from, d.way.to, strings.Join(texts, "; "))
}
