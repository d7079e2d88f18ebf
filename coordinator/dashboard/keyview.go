package dashboard

import (
	"context"
	"time"

	"github.com/palisade-go/palisade/coordinator"
)

// askMax is how long a group may take to answer.
const askMax = 5 * time.Second

// keyView tells of one key what this node's replica knows, or, with ask, the group.
func (d *Dashboard) keyView(ctx context.Context, now time.Time, key string, page int, ask bool) KeyView {
	v := KeyView{At: now.UTC(), Key: d.key(coordinator.KeyState{Key: key}, now), Page: 1, Pages: 1}
	w := d.watched.Load()
	if w == nil {
		v.Problem = "the node is not open yet"
		return v
	}
	state, taken, err := w.node.Peek(key, max(1, page)*waitersShown)
	if err != nil {
		v.Problem = err.Error()
		return v
	}
	if ask {
		ctx, cancel := context.WithTimeout(ctx, askMax)
		defer cancel()
		info, err := w.node.Inspect(ctx, key)
		if err != nil {
			v.Problem = "the group gave no answer, so this is what this node's replica knows: " + err.Error()
		} else {
			v.Asked = true
			taken = info.Holder != nil || len(info.Waiters) > 0
			state.Holder, state.Waiters, state.Queue = info.Holder, len(info.Waiters), info.Waiters
		}
	}
	v.Pages = max(1, (state.Waiters+waitersShown-1)/waitersShown)
	v.Page = min(max(1, page), v.Pages)
	from := min((v.Page-1)*waitersShown, len(state.Queue))
	state.Queue = state.Queue[from:min(from+waitersShown, len(state.Queue))]
	v.Taken, v.Key = taken, d.key(state, now)
	v.Queue = d.line(state.Queue, from+1, now)
	return v
}
