package zookeeper

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/palisade-go/palisade/bench/member"
	"github.com/palisade-go/palisade/bench/peer"
)

// jar is where Debian's package puts the server; what it needs stands beside it.
const jar = "/usr/share/java/zookeeper.jar"

// settings of a server: those of the package's example, with ports, no bound on
// the clients of one host, and no admin server.
const settings = `tickTime=2000
initLimit=10
syncLimit=5
dataDir=%s
clientPort=%d
clientPortAddress=127.0.0.1
maxClientCnxns=0
admin.enableServer=false
4lw.commands.whitelist=srvr
`

// askMax bounds a question to a server, askAgain is when it is asked again while
// it does not serve yet.
const (
	askMax   = 2 * time.Second
	askAgain = 100 * time.Millisecond
)

// start writes the files of the server i, unless they are there, and runs it.
func (c *cluster) start(i int) error {
	name := fmt.Sprintf("server%d", i+1)
	dir := filepath.Join(c.dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	text := fmt.Sprintf(settings, dir, c.clientPort(i))
	for j := range peer.Members {
		text += fmt.Sprintf("server.%d=127.0.0.1:%d:%d\n", j+1, c.ports.Port(peer.Members+j), c.ports.Port(2*peer.Members+j))
	}
	config := filepath.Join(c.dir, name+".cfg")
	err := errors.Join(
		os.WriteFile(config, []byte(text), 0o644),
		os.WriteFile(filepath.Join(dir, "myid"), []byte(fmt.Sprintln(i+1)), 0o644),
	)
	if err != nil {
		return err
	}
	c.servers[i], err = member.Start(c.dir, name, exec.Command("java", "-Xmx1g", "-cp", jar,
		"org.apache.zookeeper.server.quorum.QuorumPeerMain", config))
	return err
}

func (c *cluster) clientPort(i int) int { return c.ports.Port(i) }

// mode asks the server i what it is: "leader", "follower", or "" when it does
// not serve.
func (c *cluster) mode(ctx context.Context, i int) string {
	ctx, cancel := context.WithTimeout(ctx, askMax)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", c.ports.Address(i))
	if err != nil {
		return ""
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	if _, err := io.WriteString(conn, "srvr"); err != nil {
		return ""
	}
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		if mode, found := strings.CutPrefix(lines.Text(), "Mode: "); found {
			return mode
		}
	}
	return ""
}

// waitReady waits until the server i serves.
func (c *cluster) waitReady(ctx context.Context, i int) error {
	ticker := time.NewTicker(askAgain)
	defer ticker.Stop()
	for c.mode(ctx, i) == "" {
		select {
		case <-ticker.C:
		case <-c.servers[i].Ended():
			return fmt.Errorf("server %d has ended: %w", i+1, c.servers[i].LastWords())
		case <-ctx.Done():
			return fmt.Errorf("server %d does not serve: %w", i+1, context.Cause(ctx))
		}
	}
	return nil
}
