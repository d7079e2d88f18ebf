package main

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

func TestWorkerSaysWhatItCantDo(t *testing.T) {
	ctx := context.Background()
	for order, says := range map[string]string{
		"":           "failed no such order:\n",
		"stop it":    "failed no such order: stop it\n",
		"export all": "failed not a task: \"all\"",
		"write":      "failed nothing is late\n",
	} {
		var out bytes.Buffer
		w := &worker{out: &out}
		w.obey(ctx, order)
		require.Contains(t, out.String(), says)
	}
}

func TestLateWrite(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		statement string
		fence     func(fence) fence
		says      string
	}{
		{"ThatIsTakenIsSaid", func(f fence) fence { return f }, "wrote 1 1 7\n"},
		{"ThatIsStaleIsRefusedWithBothTokens", func(f fence) fence {
			return &answering{fence: f, answers: answers{failing(&token.StaleError{Given: 7, Highest: 9})}}
		}, "refused 7 9 token: stale: "},
		{"ThatFailsOtherwiseIsSaidToo", func(f fence) fence {
			return &answering{fence: f, answers: answers{failing(errors.New("the disk is full"))}}
		}, "failed the disk is full\n"},
	} {
		t.Run(c.statement, func(t *testing.T) {
			var out bytes.Buffer
			o := openOffice(t, 0)
			w := &worker{ledger: o.ledger, guard: c.fence(o.guard), out: &out}
			j := w.job(ctx, task{Month: month, Fenced: true, TTL: time.Second}, nil)
			w.late = &late{j, 7, page{month: month}.next(ordersFrom(1, 1))}
			w.obey(ctx, "write")
			require.Contains(t, out.String(), c.says)
		})
	}
}
