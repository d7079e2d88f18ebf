package httpfence

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/palisade-go/palisade/token"
)

// presented returns what a request presents: headers and resource, checked.
func (g *Guard) presented(r *http.Request) (token.Write, *Problem) {
	var w token.Write
	var err error
	if w.Token, err = tokenOf(r.Header); errors.Is(err, errNoToken) {
		return w, kindMissingToken.problem("%v", err)
	} else if err != nil {
		return w, kindInvalid.problem("%v", err)
	}
	if w.Operation, err = operationOf(r.Header); err != nil {
		return w, kindInvalid.problem("%v", err)
	}
	if w.Resource, err = g.cfg.Resource(r); err != nil {
		return w, kindInvalid.problem("the request names no resource: %v", err)
	}
	if err := w.Check(); err != nil {
		return w, kindInvalid.problem("%v", err)
	}
	return w, nil
}

// turn waits for the resource's turn.
func (g *Guard) turn(r *http.Request, resource string) (give func(), problem *Problem) {
	ctx, cancel := context.WithTimeout(r.Context(), g.cfg.WaitTimeMax)
	defer cancel()
	give, err := g.turns.take(ctx, resource)
	if err != nil {
		return nil, kindBusy.problem("resource %.64q: %v", resource, err)
	}
	return give, nil
}

// serveRead accepts the token of a request that writes nothing, and returns
// what answers it: an owner that reads before it writes shuts out those before
// it.
func (g *Guard) serveRead(w http.ResponseWriter, r *http.Request, next http.Handler, _ rule) http.Handler {
	asked, problem := g.presented(r)
	if problem != nil {
		return problem
	}
	if asked.Operation != "" {
		return kindInvalid.problem("%s: nothing is done by %.16s", OperationHeader, r.Method)
	}
	give, problem := g.turn(r, asked.Resource)
	if problem != nil {
		return problem
	}
	defer give()
	err := g.accept(r.Context(), asked)
	var stale *token.StaleError
	switch {
	case errors.As(err, &stale):
		return staleProblem(stale)
	case err != nil:
		return g.storeProblem(asked, err)
	}
	w.Header().Set(TokenHeader, asked.Token.String())
	return next
}

// serveWrite lets a write through, or answers in its place. It returns what is
// still to be sent, nil if nothing is: by then the turn has been given on, and
// a client that reads slowly holds up nobody.
func (g *Guard) serveWrite(w http.ResponseWriter, r *http.Request, next http.Handler, judge rule) http.Handler {
	asked, problem := g.presented(r)
	if problem != nil {
		return problem
	}
	if asked.Operation == "" && g.cfg.OperationRequired {
		return kindMissingOperation.problem("this guard wants the header %s with each write", OperationHeader)
	}
	body, problem := readBody(w, r, g.cfg.RequestBytesMax, g.cfg.BodyTimeMax)
	if problem != nil {
		return problem
	}
	give, problem := g.turn(r, asked.Resource)
	if problem != nil {
		return problem
	}
	defer give()

	a := attempt{write: asked, print: fingerprintOf(r, body), rule: judge, idempotent: g.cfg.Idempotent(r)}
	kept, err := g.store.Load(r.Context(), asked.Resource, asked.Operation)
	if err != nil {
		return g.storeProblem(asked, err)
	}
	v, why := a.decide(kept)
	change := Change{Highest: a.raises(v, kept)}
	if v == run && asked.Operation != "" {
		change.Operation, change.Record = asked.Operation, &Record{Token: asked.Token, Fingerprint: a.print}
	}
	if change != (Change{}) {
		// Before the handler runs: what it does can't be taken back.
		if err := g.store.Save(r.Context(), asked.Resource, change); err != nil {
			return g.storeProblem(asked, err)
		}
	}
	switch v {
	case run:
		return g.run(w, r, next, a, body)
	case replay:
		return sendAgain(asked, kept.Record)
	case unknown:
		p := kindUnknown.problem("operation %.64q was begun under token %s", asked.Operation, kept.Record.Token)
		p.Resource = asked.Resource
		return p
	case reused:
		return kindReused.problem("operation %.64q came before with another method, path, query or body", asked.Operation)
	}
	var stale *token.StaleError
	errors.As(why, &stale) // the rules return nothing else
	return staleProblem(stale)
}

// sendAgain gives the answer of an operation that took effect before.
func sendAgain(asked token.Write, known *Record) http.Handler {
	if known.Answer.Omitted {
		p := kindNotKept.problem("operation %.64q took effect under token %s and was answered with status %d",
			asked.Operation, known.Token, known.Answer.Status)
		p.Resource, p.Original = asked.Resource, known.Answer.Status
		return p
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set(ReplayedHeader, "true")
		known.Answer.send(w, known.Token)
	})
}

// run runs the handler with the turn held, the fence raised, and the operation,
// if there is one, marked as begun. When the handler panics the mark stays: the
// outcome is unknown, and the server ends the connection.
func (g *Guard) run(w http.ResponseWriter, r *http.Request, next http.Handler, a attempt, body []byte) http.Handler {
	// The client's leaving does not end the handler's context. The resource may
	// be half written then, whoever asks again could be told nothing, and what
	// the handler has sent on to others would go on after its turn.
	said := &mark{}
	ctx := context.WithValue(context.WithoutCancel(r.Context()), markKey{}, said)
	ctx, cancel := context.WithTimeout(ctx, g.cfg.HandlerTimeMax)
	defer cancel()
	deadline, _ := ctx.Deadline()
	client := &sender{ResponseWriter: w, until: deadline}
	r = r.WithContext(ctx)
	r.ContentLength, r.TransferEncoding = int64(len(body)), nil
	r.Body = http.NoBody
	if len(body) > 0 {
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	if a.write.Operation == "" {
		to := &passer{to: client, token: a.write.Token}
		next.ServeHTTP(to, r)
		to.begin()
		return nil
	}
	rec := newRecorder(client, g.cfg.AnswerBytesMax, a.write.Token)
	next.ServeHTTP(rec, r)
	return g.conclude(ctx, a, rec, said)
}

// conclude keeps the answer, or what else is known of the operation, and
// returns what is to be sent then.
func (g *Guard) conclude(ctx context.Context, a attempt, rec *recorder, said *mark) http.Handler {
	answer := rec.finish()
	outcome, told := said.said()
	if !told {
		outcome = g.cfg.Outcome(answer.Status, rec.sealed)
	}
	change := Change{Operation: a.write.Operation}
	switch outcome {
	case Applied:
		change.Record = &Record{Token: a.write.Token, Fingerprint: a.print, Answer: rec.kept(answer)}
	case NotApplied:
	default:
		return rec.reply(answer)
	}
	// The handler's time may be over; that is no reason to forget what it did.
	if err := g.store.Save(context.WithoutCancel(ctx), a.write.Resource, change); err != nil {
		cause := g.storeProblem(a.write, err).Detail
		if rec.passed {
			panic(http.ErrAbortHandler) // the client must not take it for whole
		}
		p := kindUnknown.problem("the handler has answered with status %d, but %s", answer.Status, cause)
		p.Status, p.Resource = http.StatusInternalServerError, a.write.Resource
		return p
	}
	return rec.reply(answer)
}

// storeProblem logs why the store failed and returns what the client is told.
func (g *Guard) storeProblem(w token.Write, err error) *Problem {
	g.cfg.Logger.Error("fence store failed", "resource", w.Resource, "operation", string(w.Operation), "cause", err)
	p := kindStore.problem("the guard's store failed")
	p.Resource = w.Resource
	return p
}
