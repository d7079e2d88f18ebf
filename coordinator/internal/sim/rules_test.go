package sim

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The simulator has no rule of its own: whatever decides is called, not
// written again. Otherwise it would prove that the copy is right.

// mayMake are the values of production that the simulator makes itself: what
// is asked, and what describes. Commands come from the hub and the proposer,
// events from the machine, effects from the hub.
var mayMake = map[string][]string{
	"statemachine": {"Batch", "Claim", "DirectoryID", "Genesis", "LeaseID", "Record", "Stats"},
	"hub":          {"Ask", "Config", "State"},
	"batcher":      {"Identity"},
	"expiry":       {},
	"keeper":       {},
}

// commandNames may stand in the cases of a switch and in assertions, where a
// log is read, and nowhere else.
var commandNames = []string{"Acquire", "Cancel", "Release", "Leave", "Expire", "ExpireLimit", "Sweep", "Upgrade", "Unknown"}

// windowNames are what deadlines and windows are made of, batchNames what says
// whether a batch counts.
var (
	windowNames = []string{"TTL", "ttl", "ttlShort", "ttlLong", "Limit", "LimitEnd", "limitShort", "limitLong", "heard", "Heard", "HeardAt"}
	batchNames  = []string{"Number", "Last", "Incarnation", "incarnation", "highest"}
)

// mayCompute are the functions that compare or add these all the same, with
// the reason.
var mayCompute = map[string]string{
	"trusts":    "what Held does: compares the clock with what keeper.Window returns",
	"first":     "a check of the hub's numbers",
	"turnBound": "the bound of a check",
	"applied":   "a check of the log, G9",
	"reached":   "a check of a mark",
}

// mustCall are the calls that carry the production's rules.
var mustCall = []string{
	"statemachine.New", "statemachine.Load", "statemachine.DecodeBatch", "machine.Apply", "machine.TakeChanges", "machine.Owned",
	"hub.New", "hub.Effects", "hub.Next", "hub.HeardAt", "h.Flush", "h.Acquire", "h.Cancel", "h.Distrust", "h.Applied",
	"h.Installed", "h.LeaderChanged", "h.AttemptFailed", "h.Mark", "h.Unmark", "h.Leave",
	"expiry.New", "proposer.Reset", "proposer.Observe", "proposer.TakeOffice", "proposer.LeaveOffice", "proposer.Due",
	"keeper.Window", "batcher.Ending",
}

// source is what the scan has seen of some files.
type source struct {
	faults []string
	calls  map[string]bool
	excuse map[string]bool // functions of mayCompute that needed it
}

func newSource() *source { return &source{calls: map[string]bool{}, excuse: map[string]bool{}} }

func (s *source) fault(text string) { s.faults = append(s.faults, text) }

// file scans a file, function by function.
func (s *source) file(f *ast.File) {
	for _, imp := range f.Imports {
		if slices.Contains([]string{`"sync"`, `"sync/atomic"`, `"context"`, `"testing"`}, imp.Path.Value) || imp.Name != nil {
			s.fault("imports " + imp.Path.Value)
		}
	}
	for _, decl := range f.Decls {
		function := ""
		if d, ok := decl.(*ast.FuncDecl); ok {
			function = d.Name.Name
		}
		read := commandsRead(decl)
		ast.Inspect(decl, func(n ast.Node) bool {
			s.node(n, function, read)
			return true
		})
	}
}

// commandsRead returns the mentions of commands that only read a log.
func commandsRead(root ast.Node) map[ast.Expr]bool {
	read := map[ast.Expr]bool{}
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CaseClause:
			for _, e := range n.List {
				read[e] = true
			}
		case *ast.TypeAssertExpr:
			read[n.Type] = true
		}
		return true
	})
	return read
}

func (s *source) node(n ast.Node, function string, read map[ast.Expr]bool) {
	switch n := n.(type) {
	case *ast.GoStmt, *ast.SelectStmt, *ast.ChanType:
		s.fault("has goroutines or channels")
	case *ast.CompositeLit:
		s.literal(n)
	case *ast.FuncType:
		if n.Results != nil && mentions(n.Results, "Event") {
			s.fault("returns events: only the machine says what a batch does")
		}
	case *ast.SelectorExpr:
		s.selector(n, read)
	case *ast.BasicLit:
		if n.Kind == token.FLOAT {
			s.computes(function, "has the number "+n.Value)
		}
	case *ast.BinaryExpr:
		s.binary(n, function)
	case *ast.CallExpr:
		s.call(n, function)
	}
}

// literal looks at values that are made.
func (s *source) literal(n *ast.CompositeLit) {
	sel, ok := n.Type.(*ast.SelectorExpr)
	if !ok {
		return
	}
	pkg, _ := sel.X.(*ast.Ident)
	allowed, watched := mayMake[pkg.Name]
	name := pkg.Name + "." + sel.Sel.Name
	switch {
	case watched && !slices.Contains(allowed, sel.Sel.Name):
		s.fault("makes a " + name)
	case name == "statemachine.Batch":
		for _, field := range n.Elts {
			if kv, ok := field.(*ast.KeyValueExpr); !ok || kv.Key.(*ast.Ident).Name != "Commands" {
				s.fault("makes a batch of a node")
			}
		}
	}
}

// selector looks at names of other packages.
func (s *source) selector(n *ast.SelectorExpr, read map[ast.Expr]bool) {
	pkg, ok := n.X.(*ast.Ident)
	if !ok {
		return
	}
	switch name := n.Sel.Name; {
	case pkg.Name == "statemachine" && slices.Contains(commandNames, name) && !read[n]:
		s.fault("has a command " + name + " in hand")
	case pkg.Name == "keeper" && name != "Window", pkg.Name == "batcher" && name != "Identity" && name != "Ending":
		s.fault("uses " + pkg.Name + "." + name + ", which is the hub's")
	case pkg.Name == "time" && slices.Contains([]string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "NewTimer", "Tick"}, name):
		s.fault("reads a clock: time." + name)
	case pkg.Name == "rand" && !slices.Contains([]string{"New", "NewChaCha8", "Rand"}, name):
		s.fault("draws from rand." + name + ", which no seed fixes")
	}
}

// binary looks at comparisons and sums.
func (s *source) binary(n *ast.BinaryExpr, function string) {
	switch n.Op {
	case token.ADD, token.SUB, token.MUL, token.QUO, token.REM, token.SHL, token.SHR:
		if mentions(n, windowNames...) {
			s.computes(function, "computes with a TTL, a limit or what was heard")
		}
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		if mentions(n, windowNames...) {
			s.computes(function, "compares a TTL, a limit or what was heard")
		}
		if mentions(n, batchNames...) {
			s.computes(function, "compares the numbers of batches")
		}
	}
}

// call notes what is called, and looks at sums of instants.
func (s *source) call(n *ast.CallExpr, function string) {
	sel, ok := n.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	switch on := sel.X.(type) {
	case *ast.Ident:
		s.calls[on.Name+"."+sel.Sel.Name] = true
	case *ast.SelectorExpr:
		s.calls[on.Sel.Name+"."+sel.Sel.Name] = true
	}
	if name := sel.Sel.Name; (name == "Add" || name == "Sub") && mentions(n, windowNames...) {
		if name == "Sub" || !isWindow(n.Args) {
			s.computes(function, "computes with a TTL, a limit or what was heard")
		}
	}
}

// isWindow says that the arguments are what keeper.Window returns.
func isWindow(args []ast.Expr) bool {
	call, ok := args[0].(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "Window"
}

// computes is a fault, unless the function has an excuse.
func (s *source) computes(function, what string) {
	if mayCompute[function] == "" {
		s.fault(what)
		return
	}
	s.excuse[function] = true
}

// mentions says that one of the names stands somewhere in a piece of syntax.
func mentions(n ast.Node, names ...string) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && slices.Contains(names, id.Name) {
			found = true
		}
		return !found
	})
	return found
}

func TestTheSimulatorHasNoRuleOfItsOwn(t *testing.T) {
	names, err := filepath.Glob("*.go")
	require.NoError(t, err)
	all := newSource()
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		one := newSource()
		one.file(f)
		require.Empty(t, one.faults, name)
		for call := range one.calls {
			all.calls[call] = true
		}
		for function := range one.excuse {
			all.excuse[function] = true
		}
	}
	for _, call := range mustCall {
		require.True(t, all.calls[call], "%s is not called: then its rules are not what is simulated", call)
	}
	for function := range mayCompute {
		require.True(t, all.excuse[function], "%s needs no excuse any more: take it off the list", function)
	}
}

// The scan must find what it is for.
func TestTheScanFindsRules(t *testing.T) {
	for _, c := range []struct{ code, fault string }{
		{"func (m *mine) Apply(b statemachine.Batch) []statemachine.Event { return nil }", "returns events"},
		{"var e = statemachine.Granted{}", "makes a statemachine.Granted"},
		{"var e = hub.Lost{}", "makes a hub.Lost"},
		{"var c = statemachine.Expire{}", "makes a statemachine.Expire"},
		{"var c = new(statemachine.Release)", "has a command Release in hand"},
		{"func f(c statemachine.Acquire) {}", "has a command Acquire in hand"},
		{"var b = statemachine.Batch{Node: 1, Number: 7}", "makes a batch of a node"},
		{"func window(ttl time.Duration) time.Duration { return ttl * 9 / 10 }", "computes with a TTL"},
		{"func window(d time.Duration) float64 { return 0.9 * float64(d) }", "has the number 0.9"},
		{"func f(c call) bool { return c.now < c.end+c.ask.TTL }", "computes with a TTL"},
		{"func due(heard, now clock.Instant) bool { return now > heard }", "compares a TTL"},
		{"func due(heard clock.Instant, d time.Duration) clock.Instant { return heard.Add(d) }", "computes with a TTL"},
		{"func f(c call) bool { return c.now.Sub(c.heard) > 0 }", "computes with a TTL"},
		{"func stale(b statemachine.Batch, last int) bool { return b.Number <= last }", "compares the numbers of batches"},
		{"func stale(b statemachine.Batch) bool { return 3 < b.Incarnation }", "compares the numbers of batches"},
		{"var k = keeper.New()", "uses keeper.New"},
		{"var b = batcher.New(id)", "uses batcher.New"},
		{"func now() time.Time { return time.Now() }", "reads a clock"},
		{"func draw() int { return rand.IntN(3) }", "no seed fixes"},
		{"func f() { go f() }", "has goroutines"},
		{"import \"sync\"", "imports"},
		{"import other \"github.com/palisade-go/palisade/coordinator/internal/keeper\"", "imports"},
	} {
		require.Contains(t, strings.Join(faultsOf(t, c.code), "; "), c.fault, c.code)
	}
	for _, fine := range []string{
		"func f(c call) clock.Instant { return c.heard.Add(keeper.Window(c.ask.TTL)) }",
		"var b = statemachine.Batch{Commands: commands}",
		"func f(c any) { switch c.(type) { case statemachine.Acquire: } }",
		"func same(a, b statemachine.Applied) bool { return a.Incarnation == b.Incarnation }",
	} {
		require.Empty(t, faultsOf(t, fine), fine)
	}
}

func faultsOf(t *testing.T, code string) []string {
	f, err := parser.ParseFile(token.NewFileSet(), "sample.go", "package sim\n"+code, 0)
	require.NoError(t, err)
	s := newSource()
	s.file(f)
	return s.faults
}
