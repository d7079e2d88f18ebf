package lint

import (
	"path"
	"strings"
)

// engine is the path prefix of the Raft engine and of the libraries that its
// author wrote for it.
const engine = "github.com/lni"

// engineHomes are the packages that may know the engine.
var engineHomes = []string{
	"coordinator/internal/raftnode",
	"coordinator/internal/raftlog",
	"bench/peer/engine",
}

func checkEngine(t *Tree) []Finding {
	var found findings
	for _, f := range t.GoFiles() {
		if underAny(f.Path, engineHomes) {
			continue
		}
		for _, imp := range f.Imports() {
			if under(imp.Path, engine) {
				found.at(f, imp.Line, "imports %s: the engine's traps are handled in coordinator/internal/raftnode; "+
					"go through a port that raftnode implements", imp.Path)
			}
		}
	}
	return found
}

// checkDirection keeps imports pointing down: what users import is above
// what it is made of, and programs use what users can use.
func checkDirection(t *Tree) []Finding {
	const (
		public   = Module + "/coordinator"
		internal = "coordinator/internal"
		// It is all test: it runs whole nodes, as a program does.
		torture = internal + "/torture"
	)
	var found findings
	for _, f := range t.GoFiles() {
		for _, imp := range f.Imports() {
			if imp.Name == "." {
				found.at(f, imp.Line, "imports %s with a dot: name the package where it is used", imp.Path)
			}
			fromAbove := imp.Path == public || under(imp.Path, public+"/locktest")
			switch {
			case under(f.Path, internal) && fromAbove && !(under(f.Path, torture) && f.IsTest()):
				found.at(f, imp.Line, "imports %s from below it: declare the interface here and let coordinator implement it", imp.Path)
			case underAny(f.Path, []string{"examples", "bench"}) && isInternal(imp.Path):
				found.at(f, imp.Line, "imports %s: examples and benchmarks use what users can use", imp.Path)
			case layerOf(f.Path) < layerOf(strings.TrimPrefix(imp.Path, Module+"/")) && under(imp.Path, Module):
				found.at(f, imp.Line, "imports %s, which is a layer above: see docs/architecture.md", imp.Path)
			}
		}
	}
	return found
}

func isInternal(importPath string) bool {
	return under(importPath, Module) && strings.Contains(importPath+"/", "/internal/")
}

// layerOf is the height of a path in the layers of docs/architecture.md.
// Packages under internal at the root serve every layer.
func layerOf(name string) int {
	switch {
	case under(name, "internal"):
		return 0
	case under(name, "token"):
		return 1
	case under(name, "statemachine"), under(name, "transport"):
		return 2
	case under(name, "coordinator"):
		return 3
	default:
		return 4
	}
}

// decided are the modules that code of the root module may import. Each has
// its reason in docs/decisions or is a test tool.
var decided = []string{
	"github.com/anishathalye/porcupine",
	"github.com/cockroachdb/pebble/v2",
	"github.com/google/uuid",
	"github.com/lni",
	"github.com/prometheus/client_golang",
	"github.com/prometheus/client_model",
	"github.com/stretchr/testify",
	"github.com/vmihailenco/msgpack/v5",
	"go.opentelemetry.io/otel",
	"go.uber.org/goleak",
	"golang.org/x/sys",
}

func checkDependencies(t *Tree) []Finding {
	var found findings
	for _, f := range t.GoFiles() {
		if t.InNestedModule(f) {
			continue
		}
		for _, imp := range f.Imports() {
			first, _, _ := strings.Cut(imp.Path, "/")
			standard := !strings.Contains(first, ".")
			if standard || under(imp.Path, Module) || underAny(imp.Path, decided) {
				continue
			}
			found.at(f, imp.Line, "imports %s: a dependency needs a record in docs/decisions and a line in this rule; "+
				"the standard library or a module that is there already may do", imp.Path)
		}
	}
	return found
}

// testOnly are packages that no program may link.
var testOnly = []string{
	"testing",
	"github.com/anishathalye/porcupine",
	"github.com/stretchr/testify",
	"go.opentelemetry.io/otel/sdk",
	"go.uber.org/goleak",
}

// testKits are packages that are written for tests, with what they may import
// of testOnly. Those that users import stay free of test libraries, which
// would become dependencies of the users' tests.
var testKits = map[string][]string{
	"coordinator/locktest":         {"testing"},
	"coordinator/locktest/history": {"github.com/anishathalye/porcupine"},
	"token/fencetest":              {"testing"},
	"token/objectfence/storetest":  {"testing"},
	"transport/transporttest":      {"testing", "github.com/stretchr/testify"},
}

// kitOf returns what a directory may import of testOnly, and whether it is a
// test kit at all. A directory below internal is one when its name says so.
func kitOf(dir string) (allowed []string, isKit bool) {
	if allowed, isKit = testKits[dir]; isKit {
		return allowed, true
	}
	if strings.Contains("/"+dir, "/internal/") && strings.HasSuffix(path.Base(dir), "test") {
		return testOnly, true
	}
	return nil, false
}

func checkTestCode(t *Tree) []Finding {
	var found findings
	for _, f := range t.GoFiles() {
		if f.IsTest() {
			continue
		}
		allowed, isKit := kitOf(f.Dir())
		for _, imp := range f.Imports() {
			if underAny(imp.Path, testOnly) && !underAny(imp.Path, allowed) {
				found.at(f, imp.Line, "imports %s outside a test: move the code to a _test.go file or to a test kit", imp.Path)
			}
			dir, ours := strings.CutPrefix(imp.Path, Module+"/")
			if _, importsKit := kitOf(dir); ours && importsKit && !isKit {
				found.at(f, imp.Line, "imports the test kit %s outside a test", imp.Path)
			}
		}
	}
	return found
}
