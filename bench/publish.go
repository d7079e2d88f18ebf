package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/palisade-go/palisade/bench/report"
)

// publish prints the tables, and writes the files and the page.
func (r *run) publish() error {
	var tables, raw bytes.Buffer
	r.results.WriteTables(&tables)
	if err := r.results.WriteJSON(&raw); err != nil {
		return err
	}
	r.say("\n%s", tables.String())
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	for name, content := range map[string][]byte{"results.json": raw.Bytes(), "tables.md": tables.Bytes()} {
		if err := os.WriteFile(filepath.Join(r.out, name), content, 0o644); err != nil {
			return err
		}
	}
	if _, err := r.draw(r.out); err != nil {
		return err
	}
	if r.page == "" {
		return nil
	}
	return r.publishPage()
}

// draw writes the charts that have numbers into a directory.
func (r *run) draw(dir string) (drawn []report.Chart, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	for _, c := range report.Charts {
		var picture bytes.Buffer
		some, err := r.results.WriteChart(&picture, c)
		if err != nil {
			return nil, err
		}
		file := filepath.Join(dir, c.File)
		if !some {
			if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
				return nil, fmt.Errorf("remove the chart of an earlier run: %w", err)
			}
			continue
		}
		if err := os.WriteFile(file, picture.Bytes(), 0o644); err != nil {
			return nil, err
		}
		drawn = append(drawn, c)
	}
	return drawn, nil
}

// publishPage writes tables and charts into the page. The charts stand in a
// directory beside it that has its name.
func (r *run) publishPage() error {
	page, err := os.ReadFile(r.page)
	if err != nil {
		return err
	}
	dir := strings.TrimSuffix(r.page, filepath.Ext(r.page))
	charts, err := r.draw(dir)
	if err != nil {
		return err
	}
	text, err := r.results.WritePage(string(page), filepath.Base(dir), charts)
	if err != nil {
		return fmt.Errorf("%s: %w", r.page, err)
	}
	return os.WriteFile(r.page, []byte(text), 0o644)
}
