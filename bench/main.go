package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/palisade-go/palisade/bench/member"
	"github.com/palisade-go/palisade/bench/peer"
	"github.com/palisade-go/palisade/bench/peer/engine"
	"github.com/palisade-go/palisade/bench/peer/etcd"
	"github.com/palisade-go/palisade/bench/peer/holder"
	"github.com/palisade-go/palisade/bench/peer/palisade"
	"github.com/palisade-go/palisade/bench/peer/postgres"
	"github.com/palisade-go/palisade/bench/peer/redis"
	"github.com/palisade-go/palisade/bench/peer/zookeeper"
	"github.com/palisade-go/palisade/bench/workload"
)

// allPeers are those that can be compared, in the order in which they run.
func allPeers() []peer.Peer {
	return []peer.Peer{palisade.Peer{}, etcd.Peer{}, zookeeper.Peer{}, redis.Peer{}, postgres.Peer{}}
}

// roles are what this program can be started as, instead of as the benchmark.
func roles() map[string]func() member.Service {
	return map[string]func() member.Service{
		palisade.Role: palisade.NewNode,
		engine.Role:   engine.NewNode,
		etcd.Role:     etcd.NewServer,
		holder.Role: func() member.Service {
			return holder.NewClient(map[string]holder.Dialer{
				"etcd": etcd.Dial, "zookeeper": zookeeper.Dial, "redis": redis.Dial, "postgres": postgres.Dial,
			})
		},
	}
}

func main() {
	if status, isMember := member.Serve(roles()); isMember {
		os.Exit(status)
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	err := bench(ctx, os.Args[1:])
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		cancel()
		os.Exit(1)
	}
}

// What a death is preceded by, and how long all is watched: longer than any peer
// takes to elect.
const (
	deathLead  = time.Second
	deathWatch = 10 * time.Second
)

// settings are what the flags say.
type settings struct {
	peers     []peer.Peer
	workloads []workload.Workload
	rounds    int
	trial     workload.Trial
	dir       string
	out, page string
	command   string // without what only this machine knows
}

// bench does what the command line asks for.
func bench(ctx context.Context, args []string) error {
	s, err := parse(args)
	if err != nil {
		return err
	}
	r := newRun(s, os.Stdout)
	r.results.Command = s.command
	if err := r.everything(ctx); err != nil {
		return err
	}
	if err := r.publish(); err != nil {
		return err
	}
	if r.results.Failed() {
		return errors.New("something failed that should have been measured; see above")
	}
	return nil
}

func parse(args []string) (settings, error) {
	var s settings
	var peers, only string
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.StringVar(&peers, "peers", "all", "the peers to compare, with commas: "+strings.Join(peerNames(), ", "))
	flags.StringVar(&only, "only", "", "the workloads to run, with commas, or the words before their hyphens (default all)")
	flags.IntVar(&s.rounds, "rounds", 3, "how many rounds")
	flags.DurationVar(&s.trial.For, "for", 3*time.Second, "how long pairs are counted")
	flags.DurationVar(&s.trial.Warm, "warm", 500*time.Millisecond, "how long pairs run before they are counted")
	flags.DurationVar(&s.trial.Idle, "idle", 10*time.Second, "how long a cluster at rest is watched")
	flags.IntVar(&s.trial.Leases, "leases", 1_000_000, "how many leases a full cluster holds")
	flags.IntVar(&s.trial.Waiters, "waiters", 100_000, "how many requests stand in line in a full cluster")
	flags.StringVar(&s.dir, "dir", ".", "where the clusters get a directory each; on a disk")
	flags.StringVar(&s.out, "out", "results", "the directory for results.json, tables.md and the charts")
	flags.StringVar(&s.page, "page", "", "a Markdown page to write the tables and charts into, between its markers")
	s.trial.Lead, s.trial.Watch = deathLead, deathWatch
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if flags.NArg() > 0 {
		return s, fmt.Errorf("what is %q? See -help", flags.Arg(0))
	}
	if s.rounds < 1 || s.trial.For <= 0 || s.trial.Warm < 0 || s.trial.Idle <= 0 || s.trial.Leases < 1 || s.trial.Waiters < 1 {
		return s, errors.New("-rounds, -for, -idle, -leases and -waiters must be above zero")
	}
	s.command = command(flags)
	var err error
	if s.workloads, err = workload.Select(only); err != nil {
		return s, err
	}
	s.peers, err = selectPeers(peers)
	return s, err
}

// command is the command line without the flags that name directories.
func command(flags *flag.FlagSet) string {
	words := []string{"go", "run", "."}
	flags.Visit(func(f *flag.Flag) {
		if !slices.Contains([]string{"dir", "out", "page"}, f.Name) {
			words = append(words, "-"+f.Name, f.Value.String())
		}
	})
	return strings.Join(words, " ")
}

func peerNames() []string {
	var names []string
	for _, p := range allPeers() {
		names = append(names, p.Name())
	}
	return names
}

func selectPeers(list string) ([]peer.Peer, error) {
	all := allPeers()
	if list == "all" {
		return all, nil
	}
	var chosen []peer.Peer
	for _, name := range strings.Split(list, ",") {
		i := slices.Index(peerNames(), name)
		if i < 0 {
			return nil, fmt.Errorf("there is no peer %q; there are: %s", name, strings.Join(peerNames(), " "))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}
