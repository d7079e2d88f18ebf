package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
)

func main() {
	list := flag.Bool("list", false, "print the faults and run nothing")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, ".", filepath.Join("internal", "mutation", "faults"), flag.Args(), *list); err != nil {
		fmt.Fprintln(os.Stderr, "mutation:", err)
		os.Exit(1)
	}
}

// run judges the faults that were chosen, all without a choice, and fails when
// one was not caught.
func run(ctx context.Context, out io.Writer, root, faultsDir string, words []string, list bool) error {
	faults, err := readFaults(filepath.Join(root, faultsDir))
	if err != nil {
		return err
	}
	faults = choose(faults, words)
	if len(faults) == 0 {
		return fmt.Errorf("no fault is named like %s", strings.Join(words, " or "))
	}
	if list {
		for _, f := range faults {
			fmt.Fprintf(out, "%-44s %-6s %s\n", f.name, f.breaks, f.why)
		}
		return nil
	}
	t, err := copyTree(root)
	if err != nil {
		return err
	}
	defer t.remove()
	missed := 0
	for _, f := range faults {
		var v verdict
		if err := t.with(f, func() { v = judge(ctx, t, f) }); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		state := "caught"
		if !v.caught {
			state = "MISSED"
			missed++
		}
		fmt.Fprintf(out, "%s  %-44s %-6s %4.0f s  %s: %s\n", state, f.name, f.breaks, v.took.Seconds(), v.by, v.says)
	}
	fmt.Fprintf(out, "faults: %d, caught: %d, missed: %d\n", len(faults), len(faults)-missed, missed)
	if missed > 0 {
		return fmt.Errorf("%d of %d faults were not caught", missed, len(faults))
	}
	return nil
}

// choose returns the faults whose name has one of the words.
func choose(faults []fault, words []string) []fault {
	if len(words) == 0 {
		return faults
	}
	var chosen []fault
	for _, f := range faults {
		for _, word := range words {
			if strings.Contains(f.name, word) {
				chosen = append(chosen, f)
				break
			}
		}
	}
	return chosen
}
