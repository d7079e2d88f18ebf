package drivertest

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"
)

// server is a PostgreSQL of a test's own, which it may stop. It listens on a
// socket in its directory only.
type server struct {
	bin, dir string
	runsAs   *syscall.Credential // nil: the user of the test
	running  *exec.Cmd
	drained  chan struct{} // closed when all that the running one says is read
}

// newServer makes and starts one, from the programs of the server that the
// tests use.
func newServer(t *testing.T) *server {
	t.Helper()
	db := stdlib.OpenDB(*postgresConfig(t))
	defer db.Close()
	s := &server{}
	require.NoError(t, db.QueryRowContext(context.Background(),
		`SELECT setting FROM pg_config WHERE name = 'BINDIR'`).Scan(&s.bin))
	var err error
	s.dir, err = os.MkdirTemp("", "palisade-postgres") // a short path: a socket's name has 107 bytes at most
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(s.dir)) })
	if os.Geteuid() == 0 { // PostgreSQL refuses to run as root
		s.runAs(t, "postgres")
	}
	made := s.command("initdb", "-D", s.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
	out, err := made.CombinedOutput()
	require.NoError(t, err, "%s", out)
	s.start(t)
	t.Cleanup(func() { s.stop(t) })
	return s
}

func (s *server) data() string { return filepath.Join(s.dir, "data") }

// runAs lets everything run as that user.
func (s *server) runAs(t *testing.T, name string) {
	t.Helper()
	who, err := user.Lookup(name)
	require.NoError(t, err)
	uid, err := strconv.ParseUint(who.Uid, 10, 32)
	require.NoError(t, err)
	gid, err := strconv.ParseUint(who.Gid, 10, 32)
	require.NoError(t, err)
	s.runsAs = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	require.NoError(t, os.Chown(s.dir, int(uid), int(gid)))
}

func (s *server) command(program string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(s.bin, program), args...)
	c.Dir = s.dir
	c.SysProcAttr = &syscall.SysProcAttr{Credential: s.runsAs}
	return c
}

// start returns when the server takes connections, after it has recovered.
func (s *server) start(t *testing.T) {
	t.Helper()
	s.running = s.command("postgres", "-D", s.data(), "-k", s.dir, "-c", "listen_addresses=", "-c", "max_connections=100")
	said, err := s.running.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, s.running.Start())
	lines := bufio.NewReader(said)
	var log strings.Builder
	for {
		line, err := lines.ReadString('\n')
		log.WriteString(line)
		require.NoError(t, err, "%s", &log)
		if strings.Contains(line, "ready to accept connections") {
			break
		}
	}
	drained := make(chan struct{})
	s.drained = drained
	go func() {
		defer close(drained)
		_, _ = io.Copy(io.Discard, lines)
	}()
}

// stop stops the server as pg_ctl -m immediate does: without a checkpoint, so
// that the next start recovers as after a crash.
func (s *server) stop(t *testing.T) {
	t.Helper()
	require.NoError(t, s.running.Process.Signal(syscall.SIGQUIT))
	<-s.drained
	_ = s.running.Wait() // its status says that it was told to
}

// config is how to connect to it.
func (s *server) config(t *testing.T) *pgx.ConnConfig {
	t.Helper()
	c, err := pgx.ParseConfig("host=" + s.dir + " user=postgres dbname=postgres")
	require.NoError(t, err)
	return c
}
