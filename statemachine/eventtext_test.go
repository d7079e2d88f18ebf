package statemachine

import (
	"fmt"
	"strings"
)

// eventText returns the events as text, one line each.
func eventText(events []Event) string {
	var l strings.Builder
	for _, e := range events {
		switch e := e.(type) {
		case Applied:
			fmt.Fprintf(&l, "applied %d.%d#%d", e.Node, e.Incarnation, e.Number)
		case Rejected:
			fmt.Fprintf(&l, "rejected %d.%d#%d %s, known is %d.%d#%d",
				e.Node, e.Incarnation, e.Number, e.Reason, e.Known.Node, e.Known.Incarnation, e.Known.Last)
		case Granted:
			fmt.Fprintf(&l, "granted %v token=%d last=%d", e.Lease, uint64(e.Token), e.Last)
		case Queued:
			fmt.Fprintf(&l, "queued %v", e.Lease)
		case Refused:
			fmt.Fprintf(&l, "refused %d.%d#%d command=%d", e.Node, e.Incarnation, e.Number, e.Ordinal)
			if e.Seq != 0 {
				fmt.Fprintf(&l, " seq=%d", e.Seq)
			}
			fmt.Fprintf(&l, " %s", e.Reason)
			for _, h := range e.Holders {
				fmt.Fprintf(&l, ", %q is held by %v token=%d ttl=%v", h.Key, h.Lease, uint64(h.Token), h.TTL)
				if h.Since != 0 {
					fmt.Fprintf(&l, " since=%d", h.Since)
				}
				if h.RequestID != "" || h.Metadata != "" {
					fmt.Fprintf(&l, " request=%q metadata=%q", h.RequestID, h.Metadata)
				}
			}
		case Ended:
			fmt.Fprintf(&l, "ended %v %s", e.Lease, e.Reason)
			if e.Waiting {
				l.WriteString(" while waiting")
			}
		}
		l.WriteString("\n")
	}
	return l.String()
}
