package token_test

import (
	"errors"
	"fmt"

	"github.com/palisade-go/palisade/token"
)

// A writer that was paused comes back after the next one has written.
func ExampleGuard_Do() {
	var guard token.Guard
	var document string
	save := func(text string, fence token.Token) error {
		return guard.Do("document", fence, func() error {
			document = text
			return nil
		})
	}

	fmt.Println(save("from the second owner", 34))
	fmt.Println(save("from the first owner, late", 33))
	fmt.Println(document)
	// Output:
	// <nil>
	// token: stale: resource "document" refuses token 33, it has accepted 34
	// from the second owner
}

func ExampleParse() {
	fence, err := token.Parse("9007199254740993")
	fmt.Println(fence.Epoch(), fence.Counter(), err)
	_, err = token.Parse("0")
	fmt.Println(errors.Is(err, token.ErrInvalid), err)
	// Output:
	// 1 1 <nil>
	// true token: invalid: 0 means none
}
