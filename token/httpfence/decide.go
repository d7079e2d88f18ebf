package httpfence

import "github.com/palisade-go/palisade/token"

// verdict is what a guard does with a write.
type verdict uint8

const (
	run     verdict = iota + 1 // the handler runs
	replay                     // the kept answer is given again
	unknown                    // it was begun and its end is not known
	reused                     // the operation id belongs to another request
	stale                      // a later owner has been here
)

// rule is token.Write's Judge or JudgeOnce.
type rule func(w token.Write, highest token.Token) error

// attempt is one request as the decision sees it.
type attempt struct {
	write token.Write
	print Fingerprint
	rule  rule
	// idempotent says that running the request twice is as good as once.
	idempotent bool
}

// decide says what to do with an attempt, and for stale why. It is the order of
// decisions of the package comment, and depends on nothing but its arguments.
func (a attempt) decide(kept Kept) (verdict, error) {
	if known := kept.Record; known != nil {
		switch {
		case known.Fingerprint != a.print:
			return reused, nil
		case known.Answer != nil:
			return replay, nil
		case !a.idempotent || a.rule(a.write, kept.Highest) != nil:
			// To call it stale would say that it was not done.
			return unknown, nil
		}
		return run, nil
	}
	if err := a.rule(a.write, kept.Highest); err != nil {
		return stale, err
	}
	return run, nil
}

// raises returns what the fence is to be raised to, zero if it stays: a
// repeated operation raises it as any write does.
func (a attempt) raises(v verdict, kept Kept) token.Token {
	if v == stale || v == reused || a.write.Token <= kept.Highest {
		return 0
	}
	return a.write.Token
}
