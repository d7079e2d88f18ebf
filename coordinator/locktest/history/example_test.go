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
	err := history.Check([]history.Record{
		{Kind: history.Acquire, Outcome: history.Done, Client: "A", Keys: key, Tokens: first, Call: 1, Return: 2},
		{Kind: history.Acquire, Outcome: history.Done, Client: "B", Keys: key, Tokens: second, Call: 3, Return: 4},
		{Kind: history.End, Outcome: history.Unknown, Client: "A", Keys: key, Tokens: first, Call: 5, Return: history.Never},
		{Kind: history.End, Outcome: history.Done, Client: "B", Keys: key, Tokens: second, Call: 6, Return: 7},
	}, time.Minute)
	fmt.Println(errors.Is(err, history.ErrViolation))
	fmt.Println(strings.ReplaceAll(err.Error(), "…", "..."))
	// Output:
	// true
	// history: the contract was broken: key ["export"]:
	//   [1, 2] A: acquire ["export"] [33]: done
	//   [3, 4] B: acquire ["export"] [34]: done
	//   [5, ...] A: end ["export"] [33]: unknown
	//   [6, 7] B: end ["export"] [34]: done
}
