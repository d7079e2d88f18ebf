package coordinator

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// hostBytesMax is the length of the longest host name that name services know,
// with the dot that may end it.
const hostBytesMax = 254

// address is a checked host:port.
type address struct {
	host string // "": all interfaces
	port uint16
}

// parseAddress accepts host:port, or :port for all interfaces, with a port of
// 1 to 65535. Names are not looked up.
func parseAddress(text string) (address, error) {
	host, portText, err := net.SplitHostPort(text)
	var form *net.AddrError
	if errors.As(err, &form) {
		// Its text repeats the whole address.
		return address{}, fmt.Errorf("address %q: %s", shorten(text), form.Err)
	}
	if err != nil {
		return address{}, fmt.Errorf("address %q: %w", shorten(text), err)
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil || port == 0 {
		return address{}, fmt.Errorf("address %q: the port must be 1 to 65535", shorten(text))
	}
	if len(host) > hostBytesMax {
		return address{}, fmt.Errorf("address %q: the host has %d bytes, at most %d are allowed", shorten(text), len(host), hostBytesMax)
	}
	if strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return address{}, fmt.Errorf("address %q: the host has a space or a control character", shorten(text))
	}
	return address{canonicalHost(host), uint16(port)}, nil
}

// parsePeerAddress accepts an address that others can dial.
func parsePeerAddress(text string) (address, error) {
	a, err := parseAddress(text)
	if err != nil {
		return address{}, err
	}
	if a.host == "" {
		return address{}, fmt.Errorf("address %q has no host", shorten(text))
	}
	if ip, err := netip.ParseAddr(a.host); err == nil && ip.IsUnspecified() {
		return address{}, fmt.Errorf("address %q stands for all interfaces: no node is reached there", shorten(text))
	}
	return a, nil
}

// canonicalHost returns the one spelling of a host: that of net/netip for an
// IP address, which is IPv4 for one that is mapped to IPv6, and otherwise lower
// case without the dot that ends a name.
func canonicalHost(host string) string {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().String()
	}
	return strings.TrimSuffix(strings.ToLower(host), ".")
}

// String returns the address in its one spelling.
func (a address) String() string { return net.JoinHostPort(a.host, strconv.Itoa(int(a.port))) }
