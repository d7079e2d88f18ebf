package history

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// NewJournal returns a Recorder that writes each record to w as it happens and
// keeps none, for processes that are killed and for runs that are long. Its
// clients are named with the prefix who, so that those of several processes can
// be told apart.
//
// A call is written before it is made. So a process that ends in the midst of
// it leaves a record with an unknown outcome, and one that ends while it holds a
// lease leaves an end that may come at any time. For that w has to pass on each
// Write before it returns, as an os.File does; it is used by one goroutine at a
// time. ReadJournal reads what was written. Err tells whether all of it was.
func NewJournal(w io.Writer, who string) *Recorder {
	r := NewRecorder()
	r.who, r.journal = who, &journal{to: w}
	return r
}

// Err returns why a record could not be written; nil: all were. From then on
// nothing is written.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.journal == nil {
		return nil
	}
	return r.journal.failed
}

// ReadJournal returns the records of a journal, in the order of their calls'
// beginnings. The last line of a process that was killed may be cut short: then
// it is left out. Errors: ErrInvalid, and those of reading.
func ReadJournal(from io.Reader) ([]Record, error) {
	var records []Record
	at := map[uint64]int{}
	lines := bufio.NewReader(from)
	for {
		text, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return records, nil
		}
		if err != nil {
			return nil, err
		}
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			return nil, fmt.Errorf("%w: line %q of a journal: %w", ErrInvalid, text, err)
		}
		for _, e := range l {
			if i, known := at[e.Number]; known {
				records[i] = e.Record
				continue
			}
			at[e.Number] = len(records)
			records = append(records, e.Record)
		}
	}
}

// line is what a journal says at one moment, whole or not at all.
type line []entry

// entry is all there is to know of an operation if nothing more is heard of it.
// A later one with its number takes its place.
type entry struct {
	Number uint64 `json:"number"`
	Record Record `json:"record"`
}

// journal writes lines. Recorder.mu guards it.
type journal struct {
	to      io.Writer
	numbers uint64
	failed  error
}

// next returns the number of a new operation.
func (j *journal) next() uint64 {
	j.numbers++
	return j.numbers
}

func (j *journal) put(l line) {
	if j.failed != nil {
		return
	}
	text, err := json.Marshal(l)
	if err == nil {
		_, err = j.to.Write(append(text, '\n'))
	}
	if err != nil {
		j.failed = fmt.Errorf("history: write a journal: %w", err)
	}
}
