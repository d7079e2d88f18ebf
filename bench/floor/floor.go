package floor

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/palisade-go/palisade/bench/crew"
	"github.com/palisade-go/palisade/bench/measure"
	"github.com/palisade-go/palisade/bench/peer"
	"github.com/palisade-go/palisade/bench/peer/engine"
	"github.com/palisade-go/palisade/bench/workload"
)

// The names under which the floor is reported. Its proposals are those of a
// peer called engine, in the workload of a single worker.
const (
	Machine = "machine"
	Floor   = "floor"
)

// recordBytes is the size of what is written before each sync, and of what goes
// to and fro: about a log entry with one acquire. fileBytes are reserved for the
// file beforehand, as log stores do.
const (
	recordBytes = 256
	fileBytes   = 64 << 20
)

// Disk measures fdatasync after small appends to a file in a directory.
func Disk(dir string, t workload.Trial) (v workload.Values, err error) {
	f, err := os.Create(filepath.Join(dir, "syncs"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	const keepSize = 1
	if err := unix.Fallocate(int(f.Fd()), keepSize, 0, fileBytes); err != nil {
		return nil, fmt.Errorf("reserve room: %w", err)
	}
	var h measure.Histogram
	record := make([]byte, recordBytes)
	end := crew.Now().Add(t.For)
	for began := crew.Now(); began < end; began = crew.Now() {
		if _, err := f.Write(record); err != nil {
			return nil, err
		}
		if err := unix.Fdatasync(int(f.Fd())); err != nil {
			return nil, fmt.Errorf("fdatasync: %w", err)
		}
		h.Add(crew.Now().Sub(began))
	}
	return workload.Values{
		workload.SyncP50.Name: workload.Milliseconds(h.Quantile(0.5)),
		workload.SyncP99.Name: workload.Milliseconds(h.Quantile(0.99)),
	}, nil
}

// Loopback measures how long a record takes to come back over TCP.
func Loopback(t workload.Trial) (v workload.Values, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer listener.Close()
	go echo(listener)
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	var h measure.Histogram
	record := make([]byte, recordBytes)
	end := crew.Now().Add(t.For)
	for began := crew.Now(); began < end; began = crew.Now() {
		if _, err := conn.Write(record); err != nil {
			return nil, err
		}
		if _, err := io.ReadFull(conn, record); err != nil {
			return nil, err
		}
		h.Add(crew.Now().Sub(began))
	}
	return workload.Values{
		workload.RoundTripP50.Name: workload.Milliseconds(h.Quantile(0.5)),
		workload.RoundTripP99.Name: workload.Milliseconds(h.Quantile(0.99)),
	}, nil
}

// echo sends back what comes over the first connection. It ends with it.
func echo(listener net.Listener) {
	conn, err := listener.Accept()
	if err != nil {
		return
	}
	defer conn.Close()
	_, _ = io.Copy(conn, conn)
}

// Proposals measures single proposals of the bare engine.
func Proposals(ctx context.Context, dir string, t workload.Trial) (v workload.Values, err error) {
	cluster, err := engine.Peer{}.Open(ctx, peer.Setup{Dir: dir})
	if err != nil {
		return nil, err
	}
	t.Cluster = cluster
	v, err = workload.Serial(ctx, t)
	if closed := cluster.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return nil, err
	}
	// A pair is one proposal: its release does nothing.
	v[workload.ProposalsPerSecond.Name] = v[workload.PairsPerSecond.Name]
	for _, m := range []workload.Metric{workload.PairsPerSecond, workload.ReleaseP50, workload.ReleaseP99, workload.ReleaseP999} {
		delete(v, m.Name)
	}
	return v, nil
}
