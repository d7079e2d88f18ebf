package coordinator

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// HeadlessService is the DNS name of the headless Service that governs a
// StatefulSet: its name, "app", or that with the namespace and more,
// "app.prod" or "app.prod.svc.cluster.local". It should have
// publishNotReadyAddresses, because nodes look for one another before they are
// ready.
type HeadlessService string

// PeersFromStatefulSet returns who this node is, and NodeID and Peers of its
// Config, from what a pod of a Kubernetes StatefulSet knows: its host name,
// which ends in its ordinal, the Service, how many replicas there are, and the
// port of Raft. Pod i is the node i+1, at <set>-<i>.<service>:<port>:
//
//	PeersFromStatefulSet("app-0", "app.prod", 3, 7400)
//	// 1, {1: "app-0.app.prod:7400", 2: "app-1.app.prod:7400", 3: "app-2.app.prod:7400"}
//
// replicas is 1, 3, 5 or 7, as Peers is, and the same on all pods and for
// ever: members are fixed at birth. Ordinals must begin with 0. The host name
// is the pod's alone, as os.Hostname returns it unless setHostnameAsFQDN is
// set.
//
// It reads nothing but its arguments. The error wraps ErrInvalid and names
// every problem. Safe for concurrent use.
func PeersFromStatefulSet(hostname string, service HeadlessService, replicas int, port uint16) (NodeID, map[NodeID]string, error) {
	var problems []error
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	set, ordinal, err := splitHostname(hostname)
	if err != nil {
		wrong("hostname %q: %w", hostname, err)
	}
	if err := checkService(service); err != nil {
		wrong("service %q: %w", service, err)
	}
	known := false
	switch replicas {
	case 1, 3, 5, 7:
		known = true
	default:
		wrong("replicas is %d: must be 1, 3, 5 or 7", replicas)
	}
	if known && err == nil && ordinal >= replicas {
		wrong("hostname %q: its ordinal is %d, but of %d replicas the last has %d", hostname, ordinal, replicas, replicas-1)
	}
	if port == 0 {
		wrong("port is 0: must be 1 to 65535")
	}
	if len(problems) > 0 {
		return 0, nil, &Error{"PeersFromStatefulSet", "", NotApplied, fmt.Errorf("%w: %w", ErrInvalid, errors.Join(problems...))}
	}
	peers := make(map[NodeID]string, replicas)
	for i := range replicas {
		peers[NodeID(i+1)] = net.JoinHostPort(fmt.Sprintf("%s-%d.%s", set, i, service), strconv.Itoa(int(port)))
	}
	return NodeID(ordinal + 1), peers, nil
}

// splitHostname returns the name of the set and the ordinal of a pod.
func splitHostname(hostname string) (set string, ordinal int, err error) {
	if strings.Contains(hostname, ".") {
		return "", 0, errors.New("must be the name of the pod alone, up to the first dot")
	}
	if err := checkLabel(hostname); err != nil {
		return "", 0, err
	}
	dash := strings.LastIndexByte(hostname, '-')
	if dash < 1 {
		return "", 0, errors.New("must end in a hyphen and the ordinal of the pod, as the pods of a StatefulSet do")
	}
	digits := hostname[dash+1:]
	ordinal, err = strconv.Atoi(digits)
	// What Kubernetes writes is read, and nothing that only looks like it.
	if err != nil || strconv.Itoa(ordinal) != digits {
		return "", 0, fmt.Errorf("%q is not the ordinal of a pod", digits)
	}
	return hostname[:dash], ordinal, checkLabel(hostname[:dash])
}

// The bytes of a label, and of a Service's name that leaves room for a pod's
// before it: DNS takes names of 253.
const (
	labelMax   = 63
	serviceMax = 253 - labelMax - len(".")
)

func checkService(service HeadlessService) error {
	if service == "" {
		return errors.New("must not be empty")
	}
	if len(service) > serviceMax {
		return fmt.Errorf("has %d bytes: at most %d", len(service), serviceMax)
	}
	for _, label := range strings.Split(string(service), ".") {
		if err := checkLabel(label); err != nil {
			return err
		}
	}
	return nil
}

// checkLabel accepts a label of a DNS name, as Kubernetes does (RFC 1123).
func checkLabel(label string) error {
	switch {
	case label == "":
		return errors.New("has an empty label")
	case len(label) > labelMax:
		return fmt.Errorf("the label %q has %d bytes: at most %d", label, len(label), labelMax)
	case strings.ContainsFunc(label, func(r rune) bool { return r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') }):
		return fmt.Errorf("the label %q must have lower-case letters, digits and hyphens only", label)
	case label[0] == '-', label[len(label)-1] == '-':
		return fmt.Errorf("the label %q must not begin or end with a hyphen", label)
	}
	return nil
}
