// Racelist prints the packages that are worth a run with the race detector,
// one a line. It is run at the root of the repository.
package main

import (
	"fmt"
	"os"

	"github.com/palisade-go/palisade/internal/lint"
)

func main() {
	tree, err := lint.Read(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "racelist:", err)
		os.Exit(1)
	}
	for _, dir := range lint.Concurrent(tree) {
		fmt.Println(dir)
	}
}
