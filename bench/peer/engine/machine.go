package engine

import (
	"io"

	sm "github.com/lni/dragonboat/v4/statemachine"
)

// idle is a state machine on disk that keeps nothing. Its directory is used
// once, so it never has to tell what it had applied.
type idle struct{}

func (idle) Open(<-chan struct{}) (uint64, error)                 { return 0, nil }
func (idle) Update(entries []sm.Entry) ([]sm.Entry, error)        { return entries, nil }
func (idle) Lookup(any) (any, error)                              { return nil, nil }
func (idle) Sync() error                                          { return nil }
func (idle) PrepareSnapshot() (any, error)                        { return nil, nil }
func (idle) SaveSnapshot(any, io.Writer, <-chan struct{}) error   { return nil }
func (idle) RecoverFromSnapshot(io.Reader, <-chan struct{}) error { return nil }
func (idle) Close() error                                         { return nil }
