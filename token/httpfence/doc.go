// Package httpfence checks fencing tokens where a service takes HTTP requests:
// a middleware for services, a gateway for services that can't check by
// themselves, and a client transport that adds a lease's token.
//
//	client                        service, or gateway before one
//	------                        ------------------------------
//	Transport  -- Fencing-Token   -->  Guard.Wrap  -->  handler
//	              Idempotency-Key        |    |
//	                                  turns  Store: fences, operations, answers
//
// # Nouns
//
//	Guard      decides about each request, for one Store
//	turn       the right to work on a resource; one request at a time has it
//	Store      keeps fences and records: Memory, or package diskstore
//	Record     what is kept of an operation: begun, then answered
//	Problem    a guard's answer in place of the handler's, and a client's error
//	Outcome    what is known of a request's effect
//	Gateway    a Guard and a reverse proxy
//	Transport  what a client sends its requests with, under a Lease
//
// # Header fields
//
//	field                 in       value
//	Fencing-Token         request  the token in decimal; exactly one field
//	                      answer   the token under which the request was let
//	                               through; of a replay, the one of the attempt
//	                               that took effect
//	Idempotency-Key       request  the operation id; at most one field, in one of
//	                               three forms: "a string", %"a display string"
//	                               of RFC 9651, or bare visible ASCII without
//	                               comma, semicolon, quote and backslash
//	Idempotent-Replayed   answer   true, if it was given before
//
// # The order of decisions
//
//	1  headers, resource      400, 428   before the body is read
//	2  the body               400, 408, 413   read whole, before the turn
//	3  the turn               503        waits for those before it
//	4  a known operation      with another method, path, query or body: 422
//	                          answered: the kept answer again, whatever the
//	                          token; a greater one raises the fence
//	                          not answered: 409, outcome unknown; likewise
//	5  the token              412 if it is lower than the fence
//	6  fence and operation    on disk: the fence is raised, the operation begun
//	7  the handler            runs
//	8  its answer             on disk
//	9  the turn is given on, the answer is sent
//
// A record of an operation moves like this:
//
//	                   6                8
//	(nothing known) ------> begun -----------> answered: replayed
//	       ^                  |
//	       +------------------+  NotApplied, or Guard.Forget
//
// One that was begun and is not answered, because the process ended, the handler
// panicked or said Unknown, or the store failed, is not run again by itself: a
// retry is told that its outcome is unknown. The way on is a new operation id,
// for somebody who has looked at the resource; or Guard.Forget; or
// Config.Idempotent, where running twice is as good as once.
//
// # Invariants
//
//  1. The fence of a resource never falls, and is durable before a handler runs
//     under the token that raised it. It stays when the handler fails.
//  2. From the check of a token to the handler's return nothing else is let
//     through for the resource.
//  3. An operation that is remembered is run at most once, unless it was
//     NotApplied, forgotten, or Idempotent.
//  4. No byte of an answer is sent before it is kept; so no replay contradicts
//     what a client was told. An answer above Config.AnswerBytesMax is passed on
//     as it comes, and a replay says only that it was given, with its status.
//  5. A refusal changes nothing: neither fence nor records. Rule 8 of package
//     token is no exception: a known operation is no refusal.
//  6. What an attempt brings (body, answer, waiting) is bounded, in bytes, in
//     number and in time.
//
// # Requests that write nothing
//
// A safe request without a token passes unseen. One with a token has the token
// accepted first, and is refused if it is stale: an owner that reads before it
// writes shuts out those before it, by reading with its Transport (rule 9 of
// package token).
//
// # The handler
//
// It runs in the server's goroutine. Its context does not end when the client
// leaves: an answer that nobody waits for is kept for whoever asks again. It ends
// after Config.HandlerTimeMax. A handler that goes on keeps its turn: others must
// not come between the check and the write. A greater token waits, too; it does
// not end the context of the handler before it, which could have done half.
//
// With an operation id the answer is held back until it is kept: there is no
// Flush, no Hijack, no informational status; trailers are kept. Without one the
// answer passes, and may be flushed; there is no Hijack either. A panic passes
// through to the server. Cookies reach the first client and are not kept.
//
// # What this package does not do
//
// It authenticates nobody. A token is no secret: whoever may send a request can
// send a great token and shut every owner out, and who knows an operation id can
// read its answer. Put authentication before the guard. It does not make the
// fence one place: two guards of one resource let stale writers through. It can't
// call back what a gateway has sent: a service that is still busy with a request
// whose answer did not come in time may write after the next owner.
//
// # What can go wrong
//
//	two names for one resource      stale writers pass: see ByPath
//	a way around the guard          stale writers pass
//	the store is lost               fences start at zero: stale writers pass
//	                                until the next owner has come
//	an operation is forgotten       a retry that is not stale does it again
//	a handler that never returns    its resource answers 503
//
// The package imports the standard library and package token only. The guard
// starts no goroutine of its own but those of timers.
package httpfence
