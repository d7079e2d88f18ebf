package locktest

import (
	"log/slog"
	"sync"
)

// keptLog keeps the end of what the nodes log, for the case that the test
// fails.
type keptLog struct {
	mu   sync.Mutex
	text []byte
}

// keptMax is how much is kept.
const keptMax = 32 << 10

func (l *keptLog) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelInfo}))
}

// Write implements io.Writer.
func (l *keptLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, p...)
	if over := len(l.text) - keptMax; over > 0 {
		l.text = append(l.text[:0], l.text[over:]...)
	}
	return len(p), nil
}

// String returns what was kept.
func (l *keptLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.text)
}
