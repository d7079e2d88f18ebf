package member

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/rpc"
	"os"
)

// roleVariable makes this program a member instead of the benchmark.
const roleVariable = "PALISADE_BENCH_ROLE"

// callsFile is the file on which a member inherits its end of the connection.
const callsFile = 3

// serviceName is what a member's methods are registered under.
const serviceName = "Member"

// Nothing is an argument or an answer without content.
type Nothing struct{}

// Service is what a member can be asked for: methods in the form of net/rpc.
// Close is called when the benchmark hangs up.
type Service interface{ io.Closer }

// Serve returns false when this process is no member. Otherwise it serves in
// the role that it was started in until the benchmark hangs up, and returns the
// exit status.
func Serve(roles map[string]func() Service) (status int, isMember bool) {
	role := os.Getenv(roleVariable)
	if role == "" {
		return 0, false
	}
	found, known := roles[role]
	if !known {
		fmt.Fprintf(os.Stderr, "member: there is no role %q\n", role)
		return 2, true
	}
	if err := serve(found()); err != nil {
		fmt.Fprintln(os.Stderr, "member:", err)
		return 1, true
	}
	return 0, true
}

func serve(s Service) error {
	f := os.NewFile(callsFile, "calls")
	conn, err := net.FileConn(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	server := rpc.NewServer()
	if err := server.RegisterName(serviceName, s); err != nil {
		return err
	}
	server.ServeConn(conn)
	return s.Close()
}
