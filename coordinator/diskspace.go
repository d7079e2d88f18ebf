package coordinator

import (
	"fmt"

	"github.com/palisade-go/palisade/coordinator/internal/diskspace"
)

const (
	// DiskSpaceMin is how many bytes have to be free for the data directory: to
	// open a node, and for one that runs to take on anything new. Below it a
	// node is short of disk space. It hands its leaderships to other members
	// and answers new calls with ErrUnavailable and ErrDiskSpace. Leases that
	// are held go on being renewed and can be released, and requests keep their
	// places in line: that costs little, and nobody would be better off without
	// them.
	//
	// It can't keep others from making it write: a follower writes what its
	// leaders send. If the disk fills up all the same, the engine ends the
	// process. Nothing that was acknowledged is lost by that.
	DiskSpaceMin = diskspace.Needed
	// DiskSpaceAgain is how many bytes have to be free again for a node that
	// was short. Then it goes on by itself, without a restart.
	DiskSpaceAgain = diskspace.Enough
)

// acceptsNew returns why the coordinator takes on nothing new; nil: it does.
func (c *Coordinator) acceptsNew() error {
	if err := c.accepts(); err != nil {
		return err
	}
	if _, err := c.node.DiskSpace(); err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return nil
}
