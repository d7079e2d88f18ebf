package locktest

import "github.com/palisade-go/palisade/coordinator/internal/diskspace"

// SetDiskFree makes the node find so many bytes free on its disk, instead of
// what the disk says, from now on and through restarts. Below
// coordinator.DiskSpaceMin the node is short of disk space, and not again
// before coordinator.DiskSpaceAgain. It looks several times a second; Await
// waits until Status().DiskErr says so.
func (n *Node) SetDiskFree(bytes uint64) { n.free.Store(&bytes) }

// gauge is what the node reads its disk with.
func (n *Node) gauge(dir string) (uint64, error) {
	if free := n.free.Load(); free != nil {
		return *free, nil
	}
	return diskspace.Free(dir)
}
