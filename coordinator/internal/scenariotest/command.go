package scenariotest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Command is one line of a scenario: a verb, words, and options name=value.
// A word or option that the Play does not read is an error, so that a
// misspelt one can't pass for a default.
type Command struct {
	Verb    string
	words   []string
	options map[string]string
	read    map[string]bool
	errs    *[]error
}

func parse(line string) (Command, error) {
	fields := strings.Fields(line)
	c := Command{Verb: fields[0], options: map[string]string{}, read: map[string]bool{}, errs: new([]error)}
	for _, f := range fields[1:] {
		name, value, isOption := strings.Cut(f, "=")
		switch _, twice := c.options[name]; {
		case !isOption:
			c.words = append(c.words, f)
		case twice:
			return Command{}, fmt.Errorf("option %s is there twice", name)
		default:
			c.options[name] = value
		}
	}
	return c, nil
}

// Words returns all words.
func (c Command) Words() []string {
	for i := range c.words {
		c.read[strconv.Itoa(i)] = true
	}
	return c.words
}

// Word returns the word at i; empty if there is none.
func (c Command) Word(i int) string {
	if i >= len(c.words) {
		return ""
	}
	c.read[strconv.Itoa(i)] = true
	return c.words[i]
}

// Number returns the word at i as a number.
func (c Command) Number(i int) uint64 {
	n, err := strconv.ParseUint(c.Word(i), 10, 64)
	if err != nil {
		c.fail(fmt.Errorf("word %d: %w", i+1, err))
	}
	return n
}

// Option returns an option's value and whether it is there.
func (c Command) Option(name string) (string, bool) {
	value, ok := c.options[name]
	c.read["="+name] = true
	return value, ok
}

// Duration returns an option as a duration; without it, the default.
func (c Command) Duration(name string, byDefault time.Duration) time.Duration {
	value, ok := c.Option(name)
	if !ok {
		return byDefault
	}
	d, err := time.ParseDuration(value)
	if err != nil {
		c.fail(fmt.Errorf("option %s: %w", name, err))
	}
	return d
}

// Uint returns an option as a number; without it, the default.
func (c Command) Uint(name string, byDefault uint64) uint64 {
	value, ok := c.Option(name)
	if !ok {
		return byDefault
	}
	n, err := strconv.ParseUint(value, 10, 64)
	if err != nil {
		c.fail(fmt.Errorf("option %s: %w", name, err))
	}
	return n
}

func (c Command) fail(err error) { *c.errs = append(*c.errs, err) }

// unread returns what was wrong with what was read, and what was not read.
func (c Command) unread() error {
	for i, word := range c.words {
		if !c.read[strconv.Itoa(i)] {
			c.fail(fmt.Errorf("the word %q has no meaning here", word))
		}
	}
	for name := range c.options {
		if !c.read["="+name] {
			c.fail(fmt.Errorf("the option %s has no meaning here", name))
		}
	}
	return errors.Join(*c.errs...)
}
