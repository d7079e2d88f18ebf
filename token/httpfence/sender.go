package httpfence

import (
	"net/http"
	"time"
)

// sender writes to a client while a turn is held. A client that reads nothing
// must not hold it up for ever, so each write ends at the handler's time, or
// after graceTime if that is over: a handler may still say so.
type sender struct {
	http.ResponseWriter
	until time.Time
}

// graceTime is how long a write may take after the handler's time.
const graceTime = time.Second

// Write implements http.ResponseWriter.
func (s *sender) Write(p []byte) (int, error) {
	defer s.limit()()
	return s.ResponseWriter.Write(p)
}

// flush sends what was written so far.
func (s *sender) flush() error {
	defer s.limit()()
	return http.NewResponseController(s.ResponseWriter).Flush()
}

// limit starts the time of a write and returns what ends it. A writer without
// deadlines is left to the server's own limits.
func (s *sender) limit() (end func()) {
	connection := http.NewResponseController(s.ResponseWriter)
	ended := make(chan struct{}) // closed by the timer's function
	timer := time.AfterFunc(max(time.Until(s.until), graceTime), func() {
		defer close(ended)
		_ = connection.SetWriteDeadline(time.Unix(1, 0))
	})
	return func() {
		if !timer.Stop() {
			<-ended
			// Not for the next request of the connection, if there is one.
			_ = connection.SetWriteDeadline(time.Time{})
		}
	}
}
