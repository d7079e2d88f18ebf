package httpfence

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/palisade-go/palisade/token"
)

// problemBytesMax is the length of the longest problem document that is read.
const problemBytesMax = 64 << 10

// Error returns the guard's refusal that an answer holds, as a *Problem, and
// nil for any other answer, which it leaves unread. Of a refusal it reads the
// body and closes it. One that can't be read to its end, or is not what a guard
// writes, is an error with token.ErrUnknown: something on the way has changed
// it.
func Error(resp *http.Response) error {
	media, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil || media != problemType || resp.StatusCode < 400 {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, problemBytesMax+1))
	if err == nil && len(body) > problemBytesMax {
		err = fmt.Errorf("a problem of more than %d bytes", problemBytesMax)
	}
	problem, foreign := &Problem{}, false
	if err == nil {
		problem, foreign, err = decodeProblem(body)
	}
	if foreign && err == nil {
		// Another's problem: the caller gets it as if it had not been read.
		resp.Body = &readAgain{Reader: strings.NewReader(string(body)), Closer: resp.Body}
		return nil
	}
	closeErr := resp.Body.Close()
	if err != nil {
		return fmt.Errorf("%w: status %d: %w", token.ErrUnknown, resp.StatusCode, errors.Join(err, closeErr))
	}
	problem.Status = resp.StatusCode // the one that counts, says RFC 9457
	return problem
}

// readAgain is a body whose bytes were read before.
type readAgain struct {
	io.Reader
	io.Closer
}

// decodeProblem reads a problem document. It is foreign if its type is none of
// this package's.
func decodeProblem(body []byte) (p *Problem, foreign bool, err error) {
	var named struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(body, &named); err != nil {
		return nil, false, fmt.Errorf("problem document: %w", err)
	}
	name, ours := strings.CutPrefix(named.Type, ProblemBase)
	if !ours {
		return nil, true, nil
	}
	p = &Problem{}
	if err := json.Unmarshal(body, p); err != nil {
		return nil, false, fmt.Errorf("problem document: %w", err)
	}
	for _, k := range kinds {
		if k.name == name {
			p.kind = k
		}
	}
	switch {
	case p.kind.name == "":
		return nil, false, fmt.Errorf("problem of the unknown type %.64q", name)
	case name == kindStale.name && (!p.Given.Valid() || !p.Highest.Valid() || p.Given > p.Highest):
		return nil, false, fmt.Errorf("problem %s with given %s and highest %s", name, p.Given, p.Highest)
	}
	return p, false, nil
}

// ReceiptOf returns what the guard says about an answer that Error finds no
// fault with: the token under which it took effect, and whether that was at an
// earlier attempt. Value is left nil: it is the body, which is the caller's to
// read. ErrNoGuard says that no guard has answered.
func ReceiptOf(resp *http.Response) (token.Receipt, error) {
	t, err := tokenOf(resp.Header)
	if err != nil {
		return token.Receipt{}, fmt.Errorf("%w: status %d: %w", ErrNoGuard, resp.StatusCode, err)
	}
	return token.Receipt{Token: t, Repeated: resp.Header.Get(ReplayedHeader) == "true"}, nil
}
