package hub

import (
	"fmt"
	"strings"
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/statemachine"
)

// script is what happens, as text.
type script struct {
	text  strings.Builder
	names map[Ref]string
}

func (s *script) line(format string, args ...any) { fmt.Fprintf(&s.text, format+"\n", args...) }

func (s *script) take() string {
	text := s.text.String()
	s.text.Reset()
	return text
}

// effect writes what the hub said.
func (s *script) effect(now clock.Instant, e Effect) {
	s.line("-> %v: %s", time.Duration(now), s.effectText(e))
}

func (s *script) effectText(e Effect) string {
	switch e := e.(type) {
	case Send:
		b, err := statemachine.DecodeBatch(e.Data)
		if err != nil {
			return err.Error()
		}
		return fmt.Sprintf("send %d, attempt %d, for %v: %s", e.Number, e.Attempt, e.Timeout, commandsText(b.Commands))
	case Granted:
		limit := ""
		if e.LimitEnd != 0 {
			limit = fmt.Sprintf(", limit at %v", time.Duration(e.LimitEnd))
		}
		return fmt.Sprintf("granted %s as %v, token %d%s", s.names[e.Ref], e.Lease, uint64(e.Token), limit)
	case Queued:
		return "queued " + s.names[e.Ref]
	case Refused:
		held := ""
		for _, h := range e.Holders {
			held += fmt.Sprintf(", %q is held by %v", h.Key, h.Lease)
		}
		return fmt.Sprintf("refused %s: %s%s", s.names[e.Ref], refusal(e.Reason), held)
	case Unavailable:
		return "unavailable " + s.names[e.Ref]
	case Lost:
		return fmt.Sprintf("lost %s: %s", s.names[e.Ref], [...]string{"?", "window", "limit", "expired", "swept", "unknown"}[e.Reason])
	case Over:
		return "over " + s.names[e.Ref]
	case Failing:
		return "failing"
	case Recovered:
		return "recovered"
	case Reached:
		return "reached " + s.names[e.Ref]
	case Left:
		return "left"
	case Fatal:
		return "fatal: " + e.Err.Error()
	}
	return fmt.Sprintf("%T is not known", e)
}

func refusal(r statemachine.RefuseReason) string {
	return [...]string{"?", "busy", "queue full", "invalid", "version", "exhausted"}[r]
}

func commandsText(commands []statemachine.Command) string {
	if len(commands) == 0 {
		return "(renews)"
	}
	var texts []string
	for _, c := range commands {
		switch c := c.(type) {
		case statemachine.Acquire:
			keys := ""
			for _, claim := range c.Claims {
				keys += " " + claim.Key
			}
			verb := "try"
			if c.Wait {
				verb = "acquire"
			}
			texts = append(texts, fmt.Sprintf("%s %d%s", verb, c.Seq, keys))
		case statemachine.Cancel:
			texts = append(texts, fmt.Sprintf("cancel %d", c.Seq))
		case statemachine.Release:
			texts = append(texts, fmt.Sprintf("release %d", c.Seq))
		case statemachine.Leave:
			texts = append(texts, "leave")
		default:
			texts = append(texts, fmt.Sprintf("%T", c))
		}
	}
	return strings.Join(texts, "; ")
}

// log writes what an entry did.
func (s *script) log(index statemachine.Index, events []statemachine.Event) {
	var texts []string
	for _, e := range events {
		switch e := e.(type) {
		case statemachine.Applied:
			texts = append(texts, fmt.Sprintf("applied %d.%d#%d", e.Node, e.Incarnation, e.Number))
		case statemachine.Rejected:
			texts = append(texts, fmt.Sprintf("rejected %d.%d#%d", e.Node, e.Incarnation, e.Number))
		case statemachine.Granted:
			texts = append(texts, fmt.Sprintf("granted %v", e.Lease))
		case statemachine.Queued:
			texts = append(texts, fmt.Sprintf("queued %v", e.Lease))
		case statemachine.Refused:
			texts = append(texts, fmt.Sprintf("refused %d.%d.%d: %s", e.Node, e.Incarnation, e.Seq, refusal(e.Reason)))
		case statemachine.Ended:
			texts = append(texts, fmt.Sprintf("ended %v: %s", e.Lease,
				[...]string{"?", "released", "cancelled", "expired", "limit", "swept"}[e.Reason]))
		}
	}
	if texts == nil {
		texts = []string{"nothing new"}
	}
	s.line("log %d: %s", index, strings.Join(texts, ", "))
}

func flights(h *Hub) string {
	text := ""
	for _, f := range h.batcher.Flights() {
		text += fmt.Sprintf(" %d", f.Number)
	}
	if text == "" {
		return " nothing"
	}
	return text
}
