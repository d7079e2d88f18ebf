package httpfence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

// readBody reads the whole body, before the request waits for its turn: a slow
// client must not hold up a resource. It ends after slowest, or with the
// request's context. The limit is looked at before anything is read.
func readBody(w http.ResponseWriter, r *http.Request, bytesMax int64, slowest time.Duration) ([]byte, *Problem) {
	if r.ContentLength > bytesMax {
		return nil, tooLarge(w, bytesMax)
	}
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), slowest)
	defer cancel()
	connection := http.NewResponseController(w)
	ended := make(chan struct{}) // closed by the function that ends the reading
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		// A writer that has no deadlines is read until its sender gives up.
		_ = connection.SetReadDeadline(time.Unix(1, 0))
	})
	body, err := io.ReadAll(io.LimitReader(r.Body, bytesMax+1))
	if !stop() {
		<-ended
	}
	switch {
	case int64(len(body)) > bytesMax:
		return nil, tooLarge(w, bytesMax)
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.Header().Set("Connection", "close")
		return nil, kindSlow.problem("it was not complete after %v, or the request had ended before", slowest)
	case err != nil:
		w.Header().Set("Connection", "close")
		return nil, kindInvalid.problem("the body can't be read: %v", err)
	}
	if ctx.Err() != nil {
		// It came with the last moment. The connection must not keep a deadline
		// that is over: it would look like a client that has left.
		_ = connection.SetReadDeadline(time.Time{})
	}
	return body, nil
}

// tooLarge refuses a body. What was not read of it can't be told from the next
// request, so the connection ends.
func tooLarge(w http.ResponseWriter, bytesMax int64) *Problem {
	w.Header().Set("Connection", "close")
	return kindTooLarge.problem("%s", fmt.Sprintf("it has more than %d bytes", bytesMax))
}
