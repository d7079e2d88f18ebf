package engine

import (
	"context"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/lni/dragonboat/v4"
	"github.com/lni/dragonboat/v4/client"
	"github.com/lni/dragonboat/v4/config"
	"github.com/lni/dragonboat/v4/logger"
	sm "github.com/lni/dragonboat/v4/statemachine"

	"github.com/palisade-go/palisade/bench/crew"
	"github.com/palisade-go/palisade/bench/member"
	"github.com/palisade-go/palisade/coordinator"
)

// Role is what a node's process is started as.
const Role = "engine"

// The settings of raftnode, for the library's default election timeout.
const (
	tick            = coordinator.DefaultElectionTimeout / electionTicks
	electionTicks   = 50
	heartbeatTicks  = 5
	queueBytes      = 128 << 20
	logBytes        = 256 << 20
	snapshotEntries = 20_000
)

// commandBytes is about the size of a batch with one acquire.
const commandBytes = 100

// proposeMax bounds a proposal, readyMax the wait for leaders.
const (
	proposeMax = 10 * time.Second
	readyMax   = time.Minute
)

// Node is the service of a node's process.
type Node struct {
	member.Crew
	host     *dragonboat.NodeHost
	sessions []*client.Session
}

// NewNode makes a node that is not open yet.
func NewNode() member.Service { return &Node{} }

// Start is what a node is opened with.
type Start struct {
	Dir       string
	Replica   uint64
	Addresses map[uint64]string
	Groups    int
}

// Open starts the engine and a replica of each group.
func (n *Node) Open(s Start, _ *member.Nothing) error {
	for _, name := range []string{"dragonboat", "raft", "rsm", "transport", "logdb", "raftpb", "config", "settings"} {
		logger.GetLogger(name).SetLevel(logger.ERROR)
	}
	host, err := dragonboat.NewNodeHost(hostConfig(s))
	if err != nil {
		return err
	}
	n.host = host
	for group := 1; group <= s.Groups; group++ {
		err := host.StartOnDiskReplica(s.Addresses, false,
			func(uint64, uint64) sm.IOnDiskStateMachine { return idle{} }, replicaConfig(uint64(group), s.Replica))
		if err != nil {
			return err
		}
		n.sessions = append(n.sessions, host.GetNoOPSession(uint64(group)))
	}
	n.Workers = crew.NewSite(func(context.Context) (crew.Locker, error) { return &proposer{n}, nil })
	return nil
}

func hostConfig(s Start) config.NodeHostConfig {
	store := config.GetTinyMemLogDBConfig()
	store.Shards = 1
	return config.NodeHostConfig{
		NodeHostDir:         s.Dir,
		RTTMillisecond:      uint64(tick / time.Millisecond),
		RaftAddress:         s.Addresses[s.Replica],
		MaxSendQueueSize:    queueBytes,
		MaxReceiveQueueSize: queueBytes,
		Expert: config.ExpertConfig{
			LogDB:  store,
			Engine: config.EngineConfig{ExecShards: 2, CommitShards: 1, ApplyShards: 4, SnapshotShards: 4, CloseShards: 4},
		},
	}
}

func replicaConfig(group, replica uint64) config.Config {
	return config.Config{
		ShardID: group, ReplicaID: replica,
		CheckQuorum: true, PreVote: true, OrderedConfigChange: true,
		ElectionRTT: electionTicks, HeartbeatRTT: heartbeatTicks,
		SnapshotEntries: snapshotEntries, CompactionOverhead: snapshotEntries / 4,
		MaxInMemLogSize: logBytes, DisableAutoCompactions: true,
	}
}

// WaitReady waits until all groups take proposals.
func (n *Node) WaitReady(member.Nothing, *member.Nothing) error {
	ctx, cancel := context.WithTimeout(context.Background(), readyMax)
	defer cancel()
	for _, session := range n.sessions {
		for {
			attempt, stop := context.WithTimeout(ctx, time.Second)
			_, err := n.host.SyncPropose(attempt, session, make([]byte, commandBytes))
			if err == nil {
				stop()
				break
			}
			<-attempt.Done() // a refusal comes at once; don't ask without end
			stop()
			if ctx.Err() != nil {
				return fmt.Errorf("group %d takes no proposals: %w", session.ShardID, err)
			}
		}
	}
	return nil
}

// Close stops the engine when the benchmark hangs up.
func (n *Node) Close() error {
	if n.host != nil {
		n.host.Close()
	}
	return nil
}

// proposer proposes a command in the group of a key.
type proposer struct{ node *Node }

func (p *proposer) Acquire(ctx context.Context, keys []string) error {
	ctx, cancel := context.WithTimeout(ctx, proposeMax)
	defer cancel()
	for _, key := range keys {
		hash := fnv.New32a()
		hash.Write([]byte(key))
		session := p.node.sessions[int(hash.Sum32()%uint32(len(p.node.sessions)))]
		if _, err := p.node.host.SyncPropose(ctx, session, make([]byte, commandBytes)); err != nil {
			return err
		}
	}
	return nil
}

func (p *proposer) Release(context.Context) error { return nil }
func (p *proposer) Close() error                  { return nil }
