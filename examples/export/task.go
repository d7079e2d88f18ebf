package main

import (
	"encoding/json"
	"fmt"
	"time"
)

// task is what the story gives a node to do: export a month.
type task struct {
	Month  string
	Fenced bool
	TTL    time.Duration
	// StopAt is a step before whose write the node waits to be told to go on.
	// 0: none.
	StopAt int
	// UnheardAt is a step that is written, but whose answer does not arrive.
	// 0: none.
	UnheardAt int
}

// line is the order to do the task, as one line.
func (t task) line() (string, error) {
	text, err := json.Marshal(t)
	return "export " + string(text), err
}

// parseTask reads what follows the word of the order.
func parseTask(text string) (task, error) {
	var t task
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return task{}, fmt.Errorf("not a task: %q: %w", text, err)
	}
	return t, nil
}
