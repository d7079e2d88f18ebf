package lint

import "testing"

// importing is a Go file that imports one package.
func importing(target string) string {
	return "package p\n\nimport _ \"" + target + "\"\n"
}

func TestEngine(t *testing.T) {
	const dragonboat = "github.com/lni/dragonboat/v4"
	runSamples(t, checkEngine, []sample{
		{"RaftnodeMayImportIt", []string{"coordinator/internal/raftnode/host.go", importing(dragonboat)}, nil},
		{"RaftlogMayImportIt", []string{"coordinator/internal/raftlog/db.go", importing(dragonboat + "/raftio")}, nil},
		{"CoordinatorMayNot", []string{"coordinator/open.go", importing(dragonboat)},
			[]string{"coordinator/open.go:3: imports " + dragonboat}},
		{"TestsMayNotEither", []string{"coordinator/open_test.go", importing(dragonboat + "/config")},
			[]string{"coordinator/open_test.go:3: imports"}},
		{"ANameThatOnlyBeginsAlikeMayNot", []string{"coordinator/internal/raftnode2/host.go", importing(dragonboat)},
			[]string{"raftnode2/host.go:3: imports"}},
		{"ItsAuthorsOtherLibrariesCount", []string{"transport/link.go", importing("github.com/lni/goutils/netutil")},
			[]string{"transport/link.go:3: imports"}},
	})
}

func TestDirection(t *testing.T) {
	runSamples(t, checkDirection, []sample{
		{"InternalMayNotImportCoordinator", []string{"coordinator/internal/hub/hub.go", importing(Module + "/coordinator")},
			[]string{"hub.go:3: imports " + Module + "/coordinator from below it"}},
		{"NorLocktestWhichImportsIt", []string{"coordinator/internal/sim/sim_test.go", importing(Module + "/coordinator/locktest")},
			[]string{"sim_test.go:3: imports"}},
		{"ButTheTestsOfTortureRunWholeNodes", []string{"coordinator/internal/torture/node_test.go", importing(Module + "/coordinator/locktest")}, nil},
		{"AndOnlyTheTests", []string{"coordinator/internal/torture/node.go", importing(Module + "/coordinator")},
			[]string{"node.go:3: imports"}},
		{"InternalMayImportItsSibling", []string{"coordinator/internal/sim/sim.go", importing(Module + "/coordinator/internal/hub")}, nil},
		{"ExamplesMayNotImportInternal", []string{"examples/quickstart/main.go", importing(Module + "/coordinator/internal/clock")},
			[]string{"main.go:3: imports"}},
		{"BenchMayNotImportInternal", []string{"bench/lock_test.go", importing(Module + "/internal/lint")},
			[]string{"lock_test.go:3: imports"}},
		{"ExamplesMayImportPublicPackages", []string{"examples/quickstart/main.go", importing(Module + "/coordinator")}, nil},
		{"ForeignInternalPathsAreNotOurs", []string{"examples/quickstart/main.go", importing("example.com/internal/x")}, nil},
		{"TokenMayNotImportTheMachine", []string{"token/guard.go", importing(Module + "/statemachine")},
			[]string{"guard.go:3: imports"}},
		{"TheMachineMayImportToken", []string{"statemachine/view.go", importing(Module + "/token")}, nil},
		{"TransportMayNotImportCoordinator", []string{"transport/link.go", importing(Module + "/coordinator/internal/clock")},
			[]string{"link.go:3: imports"}},
		{"EveryLayerMayImportInternalAtTheRoot", []string{"token/token_test.go", importing(Module + "/internal/pebbletest")}, nil},
		{"DotImportsAreRefused", []string{"coordinator/open.go", "package p\n\nimport . \"time\"\n"},
			[]string{"open.go:3: imports time with a dot"}},
	})
}

func TestDependencies(t *testing.T) {
	runSamples(t, checkDependencies, []sample{
		{"AnUndecidedModuleIsRefused", []string{"coordinator/open.go", importing("github.com/example/uuid")},
			[]string{"open.go:3: imports github.com/example/uuid"}},
		{"TheEnginesOldPebbleIsRefused", []string{"statemachine/pebblestore/store.go", importing("github.com/cockroachdb/pebble")},
			[]string{"store.go:3: imports github.com/cockroachdb/pebble"}},
		{"PebbleV2IsDecided", []string{"statemachine/pebblestore/store.go", importing("github.com/cockroachdb/pebble/v2/vfs")}, nil},
		{"TheStandardLibraryIsFree", []string{"coordinator/open.go", importing("crypto/tls")}, nil},
		{"AModuleOfItsOwnDecidesForItself",
			[]string{"bench/go.mod", "module x\n", "bench/etcd/etcd.go", importing("go.etcd.io/etcd/client/v3")}, nil},
	})
}

func TestTestCode(t *testing.T) {
	const testify = "github.com/stretchr/testify/require"
	runSamples(t, checkTestCode, []sample{
		{"ProgramsMayNotLinkTestify", []string{"coordinator/open.go", importing(testify)}, []string{"open.go:3: imports " + testify}},
		{"ProgramsMayNotLinkTesting", []string{"token/token.go", importing("testing")}, []string{"token.go:3: imports testing"}},
		{"NorAPackageBelowTesting", []string{"token/token.go", importing("testing/iotest")}, []string{"token.go:3: imports"}},
		{"NorGoleak", []string{"coordinator/close.go", importing("go.uber.org/goleak")}, []string{"close.go:3: imports"}},
		{"NorPorcupine", []string{"coordinator/internal/sim/check.go", importing("github.com/anishathalye/porcupine")},
			[]string{"check.go:3: imports"}},
		{"TestsMay", []string{"coordinator/open_test.go", importing(testify)}, nil},
		{"LocktestMayImportTesting", []string{"coordinator/locktest/cluster.go", importing("testing")}, nil},
		{"LocktestMayNotImportTestify", []string{"coordinator/locktest/cluster.go", importing(testify)},
			[]string{"cluster.go:3: imports"}},
		{"InternalKitsMay", []string{"coordinator/internal/enginetest/kit.go", importing(testify)}, nil},
		{"AKitByNameIsNoneInPublic", []string{"token/guardtest/kit.go", importing(testify)}, []string{"kit.go:3: imports"}},
		{"ProgramsMayNotImportAKit", []string{"examples/quickstart/main.go", importing(Module + "/coordinator/locktest")},
			[]string{"main.go:3: imports the test kit"}},
		{"NorTheKitOfAllStores", []string{"token/pebblefence/store.go", importing(Module + "/internal/pebbletest")},
			[]string{"store.go:3: imports the test kit"}},
		{"AKitMayImportAKit", []string{"coordinator/locktest/cluster.go", importing(Module + "/transport/transporttest")}, nil},
	})
}
