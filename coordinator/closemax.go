package coordinator

import (
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/raftnode"
)

// How long Close waits for others, in election timeouts: for the groups to
// confirm that the node goes, and for its leaderships to be taken over.
const (
	leaveElections = 2
	moveElections  = 1
)

// CloseMax returns how long Close may take with this configuration: 3 election
// timeouts and 30 seconds. It takes well under a second as a rule.
//
// Whoever ends the process by force has to wait longer than that, and than the
// longest hold that Shutdown is given to wait for. In Kubernetes:
//
//	terminationGracePeriodSeconds > preStop + longest hold + CloseMax
func (c Config) CloseMax() time.Duration {
	return (leaveElections+moveElections)*c.withDefaults().ElectionTimeout + raftnode.CloseMax
}
