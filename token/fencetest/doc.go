// Package fencetest holds the rules of guards as tests: every guard that takes
// a token.Write is to pass them, those of this module and a user's own.
//
//	func TestGuard(t *testing.T) {
//		fencetest.Run(t, fencetest.Traits{}, func(t *testing.T) fencetest.Guard {
//			return openAdapter(t)
//		})
//	}
//
// # Nouns
//
//   - A Guard is the guard under test with a resource behind it that anybody
//     can write down: a list of entries for each resource name.
//   - Traits say what the guard can do, and how much is to be tried.
//   - The reference is a guard of some forty lines, written from the rules of
//     package token. What a guard does is compared with it: outcome, receipt,
//     list and fence, after every step.
//
// # What is checked
//
// Each rule is a sub-test whose name is a statement, on a guard of its own.
//
//	rules                       how
//	tokens, input, names        step by step: what is refused, and that it
//	                            changes nothing
//	operations                  repeated by anyone, at any time, by any method
//	failed writes, contexts     what is left of what was not done
//	reopening                   fences, lists and operations are still there
//	random writes               one after the other, reopened in the middle
//	three writers               every order of two writes each, or a sample
//	a crowd                     32 writers at once who all want the same
//	concurrent writers          32 writers at once with everything they can do
//
// What concurrent writers leave is proved, not sampled: from the list, the
// fence and what each call returned, the suite finds an order of all calls in
// which the reference comes to the same, and in which a call that had ended
// before another began is before it. If there is none, the test fails and says
// where every order comes to its end.
//
// # When it fails
//
// The message has the call, what it came to, what was expected by which rule
// of package token, and the calls at that resource so far with the numbers of
// their begins and ends. Where chance decided, it has the seed. A seed fixes
// what is drawn, not how concurrent calls interleave.
//
// A run that saw too little fails too: one without any repeated, stale or
// failed write, for instance.
//
// # What it does not check
//
// Crashes, lost answers (token.ErrUnknown), faults of disks and networks, and
// how long operations are remembered past OperationsMax of them: they need
// hooks that only the guard's own tests have. A gap between check and write
// that is some nanoseconds wide may not show in a run: more Steps and the race
// detector help, and a hook of the guard in that gap helps most.
//
// Run is called from a test's goroutine. The package imports package token and
// the standard library only, registers no flags, and leaves no goroutines
// behind.
package fencetest
