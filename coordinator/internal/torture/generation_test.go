package torture

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/palisade-go/palisade/coordinator/locktest/history"
	"github.com/palisade-go/palisade/token"
)

// checkLimit bounds the search for an order of one part of a history. A part
// that needs longer is undecided, which is failed.
const checkLimit = 2 * time.Minute

// checkGeneration checks what was done with the keys of a generation that is
// over, and removes its files if it is right.
func (f *fleet) checkGeneration(generation int) error {
	began := time.Now()
	values, err := f.register.end(generation)
	if err != nil {
		return err
	}
	journals, err := filepath.Glob(filepath.Join(f.dir, fmt.Sprintf("journal-%d-*.jsonl", generation)))
	if err != nil {
		return err
	}
	var records []history.Record
	for _, name := range journals {
		some, err := readJournal(name)
		if err != nil {
			return err
		}
		records = append(records, some...)
	}
	log, err := readLog(f.register.logName(generation))
	if err != nil {
		return err
	}
	if err := errors.Join(history.Check(records, checkLimit), checkLog(log, values, records)); err != nil {
		return fmt.Errorf("generation %d, of %d operations: %w", generation, len(records), err)
	}
	f.tally.checked(records, time.Since(began))
	for _, name := range append(journals, f.register.logName(generation)) {
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

func readJournal(name string) ([]history.Record, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return history.ReadJournal(file)
}

func readLog(name string) ([]logged, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var log []logged
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var l logged
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		log = append(log, l)
	}
	return log, lines.Err()
}

// checkLog checks the register's log by itself, against the values that are
// left, and against what the writers say.
func checkLog(log []logged, values map[string]string, records []history.Record) error {
	var wrong []error
	highest, last := map[string]token.Token{}, map[string]string{}
	said := map[string]history.Record{} // by value, which no two writes have in common
	for _, r := range records {
		if r.Kind == history.Write {
			said[r.Value] = r
		}
	}
	for _, l := range log {
		switch top := highest[l.Resource]; {
		case l.Accepted && l.Token < top:
			wrong = append(wrong, fmt.Errorf("the register took %+v after %v", l, top))
		case !l.Accepted && l.Token >= top:
			wrong = append(wrong, fmt.Errorf("the register refused %+v after %v", l, top))
		case l.Accepted:
			highest[l.Resource], last[l.Resource] = l.Token, l.Value
		}
		r, known := said[l.Value]
		delete(said, l.Value)
		fits := history.Stale
		if l.Accepted {
			fits = history.Done
		}
		if !known || r.Resource != l.Resource || r.Token != l.Token || r.Outcome != fits && r.Outcome != history.Unknown {
			wrong = append(wrong, fmt.Errorf("the register has %+v, and its writer says %v", l, r))
		}
	}
	for _, r := range said {
		if r.Outcome != history.Unknown {
			wrong = append(wrong, fmt.Errorf("the register has nothing of %v", r))
		}
	}
	for resource, value := range last {
		if values[resource] != value {
			wrong = append(wrong, fmt.Errorf("%q has the value %q, and the last that was taken is %q", resource, values[resource], value))
		}
	}
	return errors.Join(wrong...)
}
