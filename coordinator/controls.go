package coordinator

import (
	"strings"

	"github.com/palisade-go/palisade/coordinator/internal/inject"
	"github.com/palisade-go/palisade/statemachine"
)

// controls hands the test kit what it may do beyond the public API.
func (c *Coordinator) controls() inject.Controls {
	return inject.Controls{
		Kill:  c.kill,
		Group: func(key string) int { return int(c.groupOf(key).id) },
		Leader: func(group int) (leader, term uint64) {
			info := c.node.Leader(statemachine.GroupID(group))
			return uint64(info.Leader), info.Term
		},
		Dump: func(group int) (index uint64, dump string, err error) {
			viewErr := c.node.View(statemachine.GroupID(group), func(m *statemachine.Machine) {
				var b strings.Builder
				err = m.Dump(&b)
				index, dump = uint64(m.Meta().Applied), b.String()
			})
			if viewErr != nil {
				return 0, "", viewErr
			}
			return index, dump, err
		},
		Lead: func(group int, to uint64) error {
			return c.node.Transfer(statemachine.GroupID(group), statemachine.NodeID(to))
		},
		Faults: func(group int) inject.Faults {
			s := c.node.Stats(statemachine.GroupID(group))
			return inject.Faults{
				LeaderChanges: s.LeaderChanges, ExpiriesProposed: s.ExpireProposed, SweepsProposed: s.SweepsProposed,
				SnapshotsInstalled: s.SnapshotsInstalled, SnapshotsCreated: s.SnapshotsCreated,
			}
		},
	}
}
