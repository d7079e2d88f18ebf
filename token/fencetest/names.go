package fencetest

import (
	"fmt"

	"github.com/palisade-go/palisade/token"
)

// nameRules are about names that some store could mix up.
var nameRules = []rule{
	{statement: "NamesOfResourcesAreComparedByteByByte", check: resourceNames},
	{statement: "OperationIDsAreComparedByteByByte", check: operationNames, needs: operations},
	{statement: "ResourceAndOperationAreNotJoined", check: notJoined, needs: operations},
}

// names are all different: they differ in case, in spaces, in how a character
// is composed, in how it is escaped, in how a path is written, in what a
// pattern would match.
var names = []string{
	"list", "List", "LIST", "list ", " list", "  list", "\tlist", "list\n", "list\r\n", "li\nst", "list\x7f",
	"lists", "lis", "l_st", "l%", "%", "_", "*", "?", "l?st", "lis[t]", "[]", "{}", "()",
	"a/b", "a//b", "/a/b", "a/b/", "a/./b", "a/../a/b", "../a/b", ".", "..", "/", `a\b`, "a%2Fb", "a%2fb", "a%252Fb",
	"a b", "a+b", "a%20b", "a;b", "a,b", "a:b", "a=b", "a&b", "a#b",
	`"list"`, "'list'", "`list`", "list'; --", `list\'`, "$1", ":list", "@list",
	"é", "e\u0301", "É", "ß", "ss", "ſ", "s", "Kelvin", "\u212Aelvin", "🔒", "🔓", "\u200blist", "\ufefflist",
	"0", "00", "-1", "1e0", "null", "NULL", "true",
}

func resourceNames(t *trial) {
	for i, name := range names {
		// Of two that are one, the second has the lower token.
		t.append(on(name, token.Token(len(names)-i), ""), written)
	}
	t.same()
}

// operationNames uses a new resource before OperationsMax is reached.
func operationNames(t *trial) {
	const atOne = OperationsMax / 2
	for first := 0; first < len(names); first += atOne / 2 { // each with the half before it
		resource := fmt.Sprintf("list from %d", first)
		for round, want := range []effect{written, repeated} {
			for _, name := range names[first:min(first+atOne, len(names))] {
				t.append(on(resource, token.Token(round+1), token.Operation(name)), want)
			}
		}
	}
}

// notJoined finds guards that make one key of a resource and an operation.
func notJoined(t *trial) {
	const tok = 5
	for _, separator := range []string{
		"/", "|", ":", "::", ",", ";", "-", "_", ".", "#", "+", "=", "&", "?", "@", "~", "!", "%", "%00", "%2F", `\`, `\\`, `\x00`,
		" ", "\n", "\t", "\x01", "\x1f", "\x7f", "'", `"`, "->",
	} {
		t.append(on("a", tok, token.Operation("b"+separator+"c")), written)
		t.append(on("a"+separator+"b", tok, "c"), written)
		t.append(on("a"+separator, tok, "d"), written)
		t.append(on("a", tok, token.Operation(separator+"d")), written)
		// A resource is no operation of another one.
		t.sameAt("a" + separator + "b" + separator + "c")
		t.append(on("a"+separator+"b"+separator+"c", 1, ""), written)
	}
}
