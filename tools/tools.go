//go:build tools

// Package tools pins the programs that check this repository. It is a module
// of its own, so that none of them becomes a dependency of those who import
// the library.
package tools

import _ "honnef.co/go/tools/cmd/staticcheck"
