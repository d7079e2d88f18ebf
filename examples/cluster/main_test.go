package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// programVariable makes the test binary the program, and so do the processes
// that it starts.
const programVariable = "PALISADE_TEST_CLUSTER_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(programVariable) != "" {
		main()
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// program is the example as its users run it.
type program struct {
	t     *testing.T
	cmd   *exec.Cmd
	dir   string // for its temporary files
	out   *bufio.Reader
	errs  bytes.Buffer
	alive *os.File // ends when it and all processes that it has started are gone
}

// startProgram starts the example, set up further if need be.
func startProgram(t *testing.T, setUp func(*exec.Cmd)) *program {
	p := &program{t: t, cmd: exec.Command(os.Args[0]), dir: t.TempDir()}
	p.cmd.Env = append(os.Environ(), programVariable+"=1", "TMPDIR="+p.dir)
	p.cmd.Stderr = &p.errs
	output, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	p.out = bufio.NewReader(output)
	// Whoever starts a process hands on this end, without knowing of it.
	alive, held, err := os.Pipe()
	require.NoError(t, err)
	p.alive, p.cmd.ExtraFiles = alive, []*os.File{held}
	setUp(p.cmd)
	require.NoError(t, p.cmd.Start())
	require.NoError(t, held.Close())
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		_ = alive.Close()
	})
	return p
}

// readUntil reads its output up to a line that has a text.
func (p *program) readUntil(text string) {
	p.t.Helper()
	for line := ""; !strings.Contains(line, text); {
		var err error
		if line, err = p.out.ReadString('\n'); err != nil {
			_ = p.cmd.Wait() // it has ended, and all that it said is there then
			require.NoError(p.t, err, "%q was not said; it said last: %s%s", text, line, &p.errs)
		}
	}
}

// wait waits until the program has ended, and returns the rest of its output
// and its status.
func (p *program) wait() (output string, status int) {
	p.t.Helper()
	rest, err := io.ReadAll(p.out)
	require.NoError(p.t, err)
	_ = p.cmd.Wait() // the status says it
	return string(rest), p.cmd.ProcessState.ExitCode()
}

// requireNoProcess waits until no process is left.
func (p *program) requireNoProcess() {
	p.t.Helper()
	require.NoError(p.t, p.alive.SetReadDeadline(time.Now().Add(patience)))
	_, err := p.alive.Read(make([]byte, 1))
	require.ErrorIs(p.t, err, io.EOF, "a process is left")
}

// requireNoFile checks that no temporary file is left.
func (p *program) requireNoFile() {
	p.t.Helper()
	left, err := os.ReadDir(p.dir)
	require.NoError(p.t, err)
	require.Empty(p.t, left)
}
