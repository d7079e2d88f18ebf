package coordinator_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"

	"github.com/palisade-go/palisade/coordinator"
)

// openerDirVariable is the directory that an opener's process opens.
const openerDirVariable = "PALISADE_TEST_OPENER_DIR"

// Opening is what came of opening a directory in a process of its own.
type Opening struct {
	Text       string // of the error; empty: it was opened, and closed again
	Permission bool   // the error is fs.ErrPermission
}

// runOpener opens a directory, says what came of it, and returns the exit
// status.
func runOpener() int {
	var o Opening
	node, err := coordinator.Open(context.Background(), coordinator.Config{Dir: os.Getenv(openerDirVariable)})
	if err == nil {
		err = node.Close()
	}
	if err != nil {
		o = Opening{Text: err.Error(), Permission: errors.Is(err, fs.ErrPermission)}
	}
	if err := json.NewEncoder(os.Stdout).Encode(o); err != nil {
		return complain(err)
	}
	return 0
}
