package coordinator

import (
	"errors"
	"fmt"
	"strings"

	"github.com/palisade-go/palisade/coordinator/internal/admission"
	"github.com/palisade-go/palisade/coordinator/internal/identity"
	"github.com/palisade-go/palisade/transport"
)

// ErrRefused: this node and a peer do not talk to one another, because one of
// them refuses the other. The error is also a *RefusedError, which says why
// and what to do.
var ErrRefused = errors.New("refused")

// RefusalReason says why a node does not talk to another.
type RefusalReason string

// The reasons. The first three are for ever, and the node that is refused for
// one stops: its calls fail with ErrClosed and the *RefusedError. The others
// may pass, and are tried again.
const (
	// RefusedDirectory: the node came with another data directory before. It
	// lost its own, or was started with an empty one.
	RefusedDirectory RefusalReason = "directory"
	// RefusedOlder: the node runs from an older copy of its directory.
	RefusedOlder RefusalReason = "older copy"
	// RefusedCopy: another process runs from a copy of the node's directory.
	RefusedCopy RefusalReason = "copy"
	// RefusedAddress: at the address that Peers has for a node there is
	// another one.
	RefusedAddress RefusalReason = "address"
	// RefusedCluster: the birth certificates differ: Cluster, the ids in
	// Peers, Groups or Epoch. The detail names what differs.
	RefusedCluster RefusalReason = "cluster"
	// RefusedCertificate: TLS does not accept a certificate.
	RefusedCertificate RefusalReason = "certificate"
	// RefusedIdentity: the TLS certificate is another node's or cluster's.
	RefusedIdentity RefusalReason = "identity"
	// RefusedProtocol: the nodes have no protocol version in common.
	RefusedProtocol RefusalReason = "protocol"
	// RefusedHandshake: what is there is no node of this library, or one has
	// TLS and the other has not.
	RefusedHandshake RefusalReason = "handshake"
	// RefusedStorage: whom a node met could not be written to its directory.
	RefusedStorage RefusalReason = "storage"
	// RefusedPeerFailed: the peer itself was refused for ever, and takes no
	// part.
	RefusedPeerFailed RefusalReason = "peer failed"
	// RefusedOther: see the detail.
	RefusedOther RefusalReason = "other"
)

// refusals are the reasons by the codes on the wire, with what to do.
var refusals = map[transport.Code]struct {
	reason RefusalReason
	advice string
}{
	admission.CodeDirectory: {RefusedDirectory, "start the node with its own directory. If that is lost, the node's memory of its votes is lost " +
		"with it, and no other directory can take its place under this id; if the cluster was never ready (no node says Admitted in its Status), empty all directories and start again"},
	admission.CodeOlder:       {RefusedOlder, "start the node with its latest directory; a copy or a backup of a directory can't be used"},
	admission.CodeCopy:        {RefusedCopy, "stop one of the two processes, and remove the copy of the directory"},
	admission.CodeAddress:     {RefusedAddress, "correct Peers, or wait until the name leads to the right host"},
	admission.CodeStranger:    {RefusedCluster, "correct Peers and NodeID"},
	admission.CodeFailed:      {RefusedPeerFailed, "see what that node says; it has to be started with its own directory"},
	admission.CodeStorage:     {RefusedStorage, "see the log of the node that refuses; its disk may be full or broken"},
	transport.CodeCluster:     {RefusedCluster, "give all nodes the same Cluster, ids in Peers, Groups and Epoch; a directory keeps those it was made with"},
	transport.CodeCertificate: {RefusedCertificate, "check that both nodes' certificates are signed by the CA that the other names, and have not expired"},
	transport.CodeIdentity:    {RefusedIdentity, "give each node a certificate whose URI is that of its Cluster and NodeID, see transport.NodeURI"},
	transport.CodeProtocol:    {RefusedProtocol, "update the older node"},
	transport.CodeHandshake:   {RefusedHandshake, "check the address, and that all nodes have TLS or none has"},
}

// RefusedError says that this node and a peer do not talk to one another.
type RefusedError struct {
	// Peer is the node concerned, as it names itself; 0 if it did not.
	Peer NodeID
	// Address is where it was dialled.
	Address string
	// ByPeer says who refuses: the peer this node, or this node the peer.
	ByPeer bool
	Reason RefusalReason
	// Detail says what was found, Advice what to do about it.
	Detail, Advice string
}

// Error implements error.
func (e *RefusedError) Error() string {
	who := "the peer"
	if e.Peer != 0 {
		who = fmt.Sprintf("node %d", e.Peer)
	}
	if e.Address != "" {
		who += " at " + e.Address
	}
	if e.ByPeer {
		return fmt.Sprintf("%s refuses this node (%s): %s: %s", who, e.Reason, e.Detail, e.Advice)
	}
	return fmt.Sprintf("this node refuses %s (%s): %s: %s", who, e.Reason, e.Detail, e.Advice)
}

// Is makes errors.Is(err, ErrRefused) true.
func (e *RefusedError) Is(target error) bool { return target == ErrRefused }

// inWords returns what a dial met, a refusal as a *RefusedError.
func (c *Coordinator) inWords(problem error) error {
	var refused *transport.RefusedError
	if errors.As(problem, &refused) {
		return c.refusal(refused)
	}
	return problem
}

// refusal translates what the transport says.
func (c *Coordinator) refusal(r *transport.RefusedError) *RefusedError {
	e := &RefusedError{
		Peer: NodeID(r.Peer.Node), Address: r.Peer.Address, ByPeer: r.ByPeer, Reason: RefusedOther,
		Detail: r.Reason, Advice: "see the log of both nodes",
	}
	if known, ok := refusals[r.Code]; ok {
		e.Reason, e.Advice = known.reason, known.advice
	}
	if r.Code == transport.CodeCluster {
		e.Detail = c.differences(r)
	}
	return e
}

// differences says in what another cluster differs from this one, if the peer
// told what it was born with.
func (c *Coordinator) differences(r *transport.RefusedError) string {
	theirs, err := identity.ReadBorn(r.Peer.Born)
	if err != nil {
		return r.Reason
	}
	var parts []string
	for _, d := range c.identity.Certificate.Compare(theirs) {
		parts = append(parts, fmt.Sprintf("%s is %s here and %s there", d.What, d.Ours, d.Theirs))
	}
	if len(parts) == 0 {
		return r.Reason
	}
	return strings.Join(parts, ", ")
}

// standing returns why this node can't be heard, as far as it lies in who
// talks to whom: the refusals, who is not reached, and for a directory that is
// new whom it still has to meet. nil: nothing is known.
func (c *Coordinator) standing() error {
	if c.gate == nil {
		return nil
	}
	blank := !c.gate.Admitted()
	var problems []error
	for _, s := range c.gate.Standings() {
		problem := c.inWords(s.Problem)
		switch {
		case errors.Is(problem, ErrRefused):
			problems = append(problems, problem)
		case blank && problem != nil:
			problems = append(problems, fmt.Errorf("node %d has to let this new directory in: %w", s.Node, problem))
		case problem != nil:
			problems = append(problems, fmt.Errorf("node %d is not reached: %w", s.Node, problem))
		case blank && !s.Agreed:
			problems = append(problems, fmt.Errorf("node %d has to let this new directory in: it has not answered yet", s.Node))
		}
	}
	return inOneLine(problems)
}

// unavailable returns ErrUnavailable for a cause, with what the peers say.
func (c *Coordinator) unavailable(cause error) error {
	if refused := c.standing(); refused != nil {
		return fmt.Errorf("%w: %w; %w", ErrUnavailable, cause, refused)
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, cause)
}

// inOneLine joins errors like errors.Join, but for one line of a log; nil if
// there are none.
func inOneLine(problems []error) error {
	var all error
	for _, problem := range problems {
		switch {
		case problem == nil:
		case all == nil:
			all = problem
		default:
			all = fmt.Errorf("%w; %w", all, problem)
		}
	}
	return all
}
