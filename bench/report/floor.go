package report

import (
	"fmt"
	"io"

	"github.com/palisade-go/palisade/bench/floor"
)

// writeFloor writes what the machine itself was measured at.
func (r *Results) writeFloor(w io.Writer) {
	peers := r.peers(floor.Floor)
	if len(peers) == 0 {
		return
	}
	fmt.Fprintf(w, "\n**%s**: what the machine takes in the same run\n\n", floor.Floor)
	r.writeWorkload(w, floor.Floor, peers)
}
