package childtest

import (
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// childVariable makes the test binary a child that sends back what it reads.
const childVariable = "PALISADE_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) == "" {
		os.Exit(m.Run())
	}
	conn, err := Inherited(3)
	if err == nil {
		_, err = io.CopyN(conn, conn, 5)
	}
	if err != nil {
		panic(err)
	}
}

func TestAChildTalksToItsParent(t *testing.T) {
	conn, theirs, err := SocketPair()
	require.NoError(t, err)
	defer conn.Close()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childVariable+"=1")
	child.ExtraFiles = []*os.File{theirs}
	require.NoError(t, child.Start())
	require.NoError(t, theirs.Close())
	_, err = io.WriteString(conn, "hello")
	require.NoError(t, err)
	answer, err := io.ReadAll(conn)
	require.NoError(t, err, "it ends with the child")
	require.Equal(t, "hello", string(answer))
	require.NoError(t, child.Wait())
	_, err = Inherited(1 << 20)
	require.Error(t, err, "there is no such descriptor")
}
