package sim

import "fmt"

// String tells where everything stands, for a failure.
func (w *world) String() string {
	text := w.setting.String()
	for _, g := range w.groups {
		leader := "nobody"
		if g.leader != nil {
			leader = fmt.Sprint("node ", g.leader.id)
		}
		text += fmt.Sprintf("\ngroup %d: %d entries, %s leads, %+v", g.id, len(g.log), leader, g.oracle.machine.Stats())
	}
	for _, n := range w.nodes {
		text += "\n" + n.String()
		for _, r := range n.replicas {
			text += fmt.Sprintf("\n  group %d: applied %d, stalled=%d, hub: %d requests, wakes=%v, %d inputs wait",
				r.g.id, r.machine.Meta().Applied, r.stalled, r.shell.hub.Len(), r.shell.wakes(), len(r.shell.mail))
		}
		for _, c := range n.clients {
			if !c.busy() {
				continue
			}
			text += fmt.Sprintf("\n  client %d: has %d of %d, gives back: %v:", c.number, c.has, len(c.want), c.backs)
			for _, one := range c.calls {
				text += fmt.Sprintf(" call %d of group %d in phase %d", one.ref, one.shell.r.g.id, one.phase)
			}
		}
	}
	return text
}
