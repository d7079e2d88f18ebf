package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/palisade-go/palisade/token"
)

// signature is a line that must not be there twice.
var signature = request{method: http.MethodPost, text: "signed: Ben", operation: "sign the report of November"}

// signed is the document with the line once.
const signed = "draft of Ada, edited by Ben\nsigned: Ben"

// loseAnswer is what a token can't prevent, and an operation id can: it is Ben's
// turn, all the time.
func (s *story) loseAnswer(ctx context.Context) error {
	ben := s.last
	ben.use(func(base http.RoundTripper) http.RoundTripper { return losing{base} })
	_, _, err := ben.send(ctx, s.door.url, signature)
	if !errors.Is(err, token.ErrUnknown) || !errors.Is(err, errLost) {
		return fmt.Errorf("an answer that is lost leaves the outcome unknown, but: %w", err)
	}
	if err := s.has(signed); err != nil {
		return err
	}
	s.tell("Ben adds a line, as an operation with an id. The answer is lost: he can't know whether it was done.")

	ben.use(nil)
	if err := s.repeated(ctx); err != nil {
		return err
	}
	s.tell("He tries again, with the same id. The gateway gives him the first answer. The line is there once.")
	return nil
}

// repeated has Ben try his operation again, and checks that nothing is done.
func (s *story) repeated(ctx context.Context) error {
	text, receipt, err := s.last.send(ctx, s.door.url, signature)
	switch {
	case err != nil:
		return err
	case text != signed:
		return fmt.Errorf("the first answer should be given again, but it is %q", text)
	case !receipt.Repeated || receipt.Token != s.last.lease.Token():
		return fmt.Errorf("the answer should be one given again, of token %s, but is %+v", s.last.lease.Token(), receipt)
	}
	return s.has(signed)
}
