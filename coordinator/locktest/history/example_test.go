package history_test

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/palisade-go/palisade/coordinator/locktest/history"
	"github.com/palisade-go/palisade/token"
)

// A holder that trusted its lease at a moment when the next one had been
// granted: each process by itself saw nothing wrong.
func ExampleCheck() {
	key, first, second := []string{"export"}, []token.Token{33}, []token.Token{34}
	at := func(ms int) history.Instant { return history.Instant(ms) * history.Instant(time.Millisecond) }
	err := history.Check([]history.Record{
		{Kind: history.Acquire, Outcome: history.Done, Client: "A", Keys: key, Tokens: first, Call: at(1), Return: at(2)},
		{Kind: history.Acquire, Outcome: history.Done, Client: "B", Keys: key, Tokens: second, Call: at(3), Return: at(4)},
		{Kind: history.End, Outcome: history.Unknown, Client: "A", Keys: key, Tokens: first, Call: at(5), Return: history.Never},
		{Kind: history.End, Outcome: history.Done, Client: "B", Keys: key, Tokens: second, Call: at(6), Return: at(7)},
	}, time.Minute)
	fmt.Println(errors.Is(err, history.ErrViolation))
	fmt.Println(strings.ReplaceAll(err.Error(), "…", "..."))
	// Output:
	// true
	// history: the contract was broken: key ["export"]: 1 of 4 operations could be put in order
	//   [0.000000, 0.001000] A: acquire ["export"] [33]: done
	// then it is: "export" held by 33, last token 33
	// and no order goes on with:
	//   [0.002000, 0.003000] B: acquire ["export"] [34]: done
	// the end of what was held came later:
	//   [0.004000, ...] A: end ["export"] [33]: unknown
	// Visualize draws all of it
}
