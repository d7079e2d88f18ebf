package member

import (
	"bytes"
	"errors"
	"fmt"
	"os"
)

// wordsBytes is how much of what a process printed is shown when it fails.
const wordsBytes = 2000

// LastWords returns the end of what the process has printed, as an error: why
// it ended.
func (p *Process) LastWords() error {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return fmt.Errorf("read what %s said: %w", p.name, err)
	}
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return errors.New("it said nothing")
	}
	return fmt.Errorf("it said: %s", text[max(len(text)-wordsBytes, 0):])
}
