package coordinator

import (
	"io"
	"net/http"
)

// LiveHandler answers 200 while Live returns nil, and else 503 with the error
// as text. It is for a probe that restarts the process.
//
// It takes GET and HEAD at any path, and answers 405 to the rest. It shows
// numbers of groups and times, no keys. Safe for concurrent use.
func (c *Coordinator) LiveHandler() http.Handler { return healthHandler(c.Live) }

// ReadyHandler answers 200 while Ready returns nil, and else 503 with the
// error as text. It is for a probe that decides whether the process gets work,
// and whether an update goes on to the next node; never for one that restarts
// it. Otherwise it is as LiveHandler.
func (c *Coordinator) ReadyHandler() http.Handler { return healthHandler(c.Ready) }

func healthHandler(healthy func() error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
			return
		}
		if err := healthy(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		// Who asked may have left; there is nobody else to tell.
		_, _ = io.WriteString(w, "ok\n")
	})
}
