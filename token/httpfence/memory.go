package httpfence

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/palisade-go/palisade/token"
)

// ErrFull says that a Memory has as many resources as it may have. Nothing was
// changed.
var ErrFull = errors.New("httpfence: the store is full")

// Defaults of MemoryConfig.
const (
	DefaultMemoryResourcesMax   = 10_000
	DefaultMemoryOperationsMax  = 64
	DefaultMemoryAnswerBytesMax = 64 << 20
)

// MemoryConfig bounds a Memory. Zero fields mean the defaults.
type MemoryConfig struct {
	// ResourcesMax is how many resources may have a fence. A fence is never
	// forgotten, so one more is refused with ErrFull. Default: 10,000.
	ResourcesMax int
	// OperationsMax is how many operations are remembered for each resource; the
	// oldest is forgotten first. Default: 64.
	OperationsMax int
	// AnswerBytesMax is how many bytes all answers together may take. Of one that
	// would take more only the status is kept. Default: 64 MiB.
	AnswerBytesMax int64
}

// Memory is a Store that ends with the process. Use it where the resources end
// with the process too, and in tests: after a restart it would let every paused
// writer in. It may be used concurrently.
type Memory struct {
	cfg MemoryConfig

	mu        sync.Mutex
	resources map[string]*remembered
	counts    Counts
}

// Counts is what a Memory holds.
type Counts struct {
	Resources   int   // with a fence; it only rises
	Operations  int   // of all resources
	AnswerBytes int64 // of all answers
}

// remembered is what is kept of one resource.
type remembered struct {
	highest token.Token
	records map[token.Operation]*Record
	order   []token.Operation // of records, in the order of their beginning
}

// NewMemory returns a store that knows nothing yet. The error is
// token.ErrInvalid, once for each field that is below 0.
func NewMemory(cfg MemoryConfig) (*Memory, error) {
	var problems []error
	if cfg.ResourcesMax < 0 {
		problems = append(problems, fmt.Errorf("%w: MemoryConfig.ResourcesMax is %d", token.ErrInvalid, cfg.ResourcesMax))
	}
	if cfg.OperationsMax < 0 {
		problems = append(problems, fmt.Errorf("%w: MemoryConfig.OperationsMax is %d", token.ErrInvalid, cfg.OperationsMax))
	}
	if cfg.AnswerBytesMax < 0 {
		problems = append(problems, fmt.Errorf("%w: MemoryConfig.AnswerBytesMax is %d", token.ErrInvalid, cfg.AnswerBytesMax))
	}
	if problems != nil {
		return nil, errors.Join(problems...)
	}
	def(&cfg.ResourcesMax, DefaultMemoryResourcesMax)
	def(&cfg.OperationsMax, DefaultMemoryOperationsMax)
	def(&cfg.AnswerBytesMax, DefaultMemoryAnswerBytesMax)
	return &Memory{cfg: cfg, resources: make(map[string]*remembered)}, nil
}

// Counts returns how much the store holds now.
func (m *Memory) Counts() Counts {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.counts
}

// Load implements Store. It does not block.
func (m *Memory) Load(_ context.Context, resource string, operation token.Operation) (Kept, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.resources[resource]
	if r == nil {
		return Kept{}, nil
	}
	kept := Kept{Highest: r.highest}
	if known := r.records[operation]; known != nil {
		kept.Record = known.clone()
	}
	return kept, nil
}

// Save implements Store. It does not block. The error is ErrFull.
func (m *Memory) Save(_ context.Context, resource string, change Change) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.resources[resource]
	if r == nil {
		if change.Highest == 0 && change.Record == nil {
			return nil // what is not known is forgotten
		}
		if len(m.resources) >= m.cfg.ResourcesMax {
			return fmt.Errorf("%w: %d resources", ErrFull, m.cfg.ResourcesMax)
		}
		r = &remembered{records: make(map[token.Operation]*Record)}
		m.resources[resource] = r
		m.counts.Resources++
	}
	r.highest = max(r.highest, change.Highest)
	switch {
	case change.Operation == "":
	case change.Record == nil:
		m.forgetLocked(r, change.Operation)
	default:
		m.keepLocked(r, change.Operation, change.Record.clone())
	}
	return nil
}

// keepLocked replaces the record of an operation. A new one goes to the end of
// the order, and the oldest goes if there are too many.
func (m *Memory) keepLocked(r *remembered, operation token.Operation, record *Record) {
	if before := r.records[operation]; before != nil {
		m.counts.AnswerBytes -= before.answerBytes()
	} else {
		r.order = append(r.order, operation)
		m.counts.Operations++
	}
	if m.counts.AnswerBytes+record.answerBytes() > m.cfg.AnswerBytesMax {
		record.Answer = &Answer{Status: record.Answer.Status, Omitted: true}
	}
	m.counts.AnswerBytes += record.answerBytes()
	r.records[operation] = record
	for len(r.order) > m.cfg.OperationsMax {
		m.forgetLocked(r, r.order[0])
	}
}

func (m *Memory) forgetLocked(r *remembered, operation token.Operation) {
	known := r.records[operation]
	if known == nil {
		return
	}
	delete(r.records, operation)
	r.order = slices.DeleteFunc(r.order, func(o token.Operation) bool { return o == operation })
	m.counts.Operations--
	m.counts.AnswerBytes -= known.answerBytes()
}

func (r *Record) answerBytes() int64 {
	if r.Answer == nil {
		return 0
	}
	return r.Answer.Bytes()
}

// clone returns a record that shares nothing with r.
func (r *Record) clone() *Record {
	c := *r
	if r.Answer != nil {
		a := *r.Answer
		a.Header, a.Trailer, a.Body = cloneHeader(a.Header), cloneHeader(a.Trailer), slices.Clone(a.Body)
		c.Answer = &a
	}
	return &c
}

// cloneHeader makes no difference between no fields and none set.
func cloneHeader(h http.Header) http.Header {
	if len(h) == 0 {
		return nil
	}
	return h.Clone()
}
