package objectfence

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/palisade-go/palisade/token"
)

// Part of the format; never change.
const (
	pointerFormat = 1
	// movesMax is how many moves a pointer remembers, its own included.
	movesMax = 32
	// idBytes is the length of the random id of a move or a version.
	idBytes = 16
)

// PointerBytesMax is the size of the largest pointer. OperationsLimit operations
// with the longest ids and values fit.
const PointerBytesMax = 512 << 10

// pointer is the small object that is moved by PutIf: the fence of a resource,
// where its content is, and what was done.
type pointer struct {
	// Format is pointerFormat.
	Format int `json:"format"`
	// Resource is the name that the pointer's own name was made from.
	Resource string `json:"resource"`
	// Token is the greatest token accepted. It only rises.
	Token token.Token `json:"token"`
	// Version is where the content is; nil until the first write.
	Version *version `json:"version,omitempty"`
	// Operations are those remembered, the oldest first.
	Operations []operation `json:"operations,omitempty"`
	// Moves are the ids of the last PutIfs of this pointer, the newest last. So
	// whoever lost the answer of one can tell whether it took effect, and no two
	// states of a pointer are equal.
	Moves []string `json:"moves"`
}

// version names an object that never changes.
type version struct {
	Name   Name   `json:"name"`
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// operation is one that took effect.
type operation struct {
	ID    token.Operation `json:"id"`
	Token token.Token     `json:"token"`
	Value []byte          `json:"value,omitempty"`
}

// find returns the operation with that id, nil if none is remembered.
func (p pointer) find(id token.Operation) *operation {
	for i := range p.Operations {
		if p.Operations[i].ID == id {
			return &p.Operations[i]
		}
	}
	return nil
}

// lastMove is the id of the PutIf that made this state, "" if there is no
// pointer yet.
func (p pointer) lastMove() string {
	if len(p.Moves) == 0 {
		return ""
	}
	return p.Moves[len(p.Moves)-1]
}

// moved says whether the PutIf with that id took effect, as far as is
// remembered.
func (p pointer) moved(id string) bool { return slices.Contains(p.Moves, id) }

// follows says whether all moves after the one with the id last are remembered.
func (p pointer) follows(last string) bool {
	if last == "" {
		return len(p.Moves) < movesMax
	}
	return p.moved(last)
}

// after returns the pointer as it is to become, by the move with that id.
func (p pointer) after(id string) pointer {
	p.Moves = append(slices.Clone(p.Moves), id)
	if tooMany := len(p.Moves) - movesMax; tooMany > 0 {
		p.Moves = p.Moves[tooMany:]
	}
	return p
}

// encode returns the one spelling of the pointer.
func (p pointer) encode() ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(p); err != nil {
		return nil, fmt.Errorf("objectfence: pointer of %.64q: %w", p.Resource, err)
	}
	if text.Len() > PointerBytesMax {
		return nil, fmt.Errorf("%w: a pointer of %d bytes, at most %d are allowed", ErrTooLarge, text.Len(), PointerBytesMax)
	}
	return text.Bytes(), nil
}

// decodePointer reads what encode writes for the resource, and nothing else.
func decodePointer(data []byte, resource string) (pointer, error) {
	damaged := func(format string, args ...any) (pointer, error) {
		return pointer{}, fmt.Errorf("%w: pointer of %.64q: %s", ErrDamaged, resource, fmt.Sprintf(format, args...))
	}
	if len(data) > PointerBytesMax {
		return damaged("%d bytes", len(data))
	}
	var head struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return damaged("%v", err)
	}
	if head.Format != pointerFormat {
		return pointer{}, fmt.Errorf("%w: pointer of %.64q has format %d, this code knows %d",
			ErrFormat, resource, head.Format, pointerFormat)
	}
	var p pointer
	if err := json.Unmarshal(data, &p); err != nil {
		return damaged("%v", err)
	}
	if p.Resource != resource {
		return damaged("it is that of %.64q", p.Resource)
	}
	if err := p.check(); err != nil {
		return damaged("%v", err)
	}
	// Unknown and doubled fields, other spellings and what follows the end.
	if again, err := p.encode(); err != nil || !bytes.Equal(again, data) {
		return damaged("it is not spelled as a guard does")
	}
	return p, nil
}

// check returns nil if the fields are such as a guard writes.
func (p pointer) check() error {
	if !p.Token.Valid() {
		return fmt.Errorf("%s is not a token", p.Token)
	}
	if v := p.Version; v != nil {
		if v.Name.Check() != nil || !isHex(v.SHA256, sha256.Size) || v.Bytes < 0 || v.Bytes > ObjectBytesMax {
			return fmt.Errorf("version %.80q of %d bytes", string(v.Name), v.Bytes)
		}
	}
	if len(p.Operations) > OperationsLimit {
		return fmt.Errorf("%d operations", len(p.Operations))
	}
	for i, o := range p.Operations {
		asked := token.Write{Resource: p.Resource, Token: o.Token, Operation: o.ID}
		doubled := p.find(o.ID) != &p.Operations[i]
		if asked.Check() != nil || o.ID == "" || o.Token > p.Token || len(o.Value) > ValueBytesMax || doubled {
			return fmt.Errorf("operation %d is none", i)
		}
	}
	if len(p.Moves) == 0 || len(p.Moves) > movesMax {
		return fmt.Errorf("%d moves", len(p.Moves))
	}
	for _, id := range p.Moves {
		if !isHex(id, idBytes) {
			return fmt.Errorf("move %.64q", id)
		}
	}
	return nil
}

func isHex(s string, bytes int) bool {
	decoded, err := hex.DecodeString(s)
	return err == nil && len(decoded) == bytes && hex.EncodeToString(decoded) == s
}
