package lint

import (
	"strings"
	"testing"
)

func TestPure(t *testing.T) {
	body := func(statements string) string { return "package p\n\nfunc f() {\n" + statements + "\n}\n" }
	timed := func(call string) string {
		return "package p\n\nimport clk \"time\"\n\nvar x = clk." + call + "\n"
	}
	runSamples(t, checkPure, []sample{
		{"AGoroutineIsRefused", []string{"statemachine/apply.go", body("go f()")}, []string{"apply.go:4: starts a goroutine"}},
		{"ASelectIsRefused", []string{"statemachine/apply.go", body("select {}")}, []string{"apply.go:4: has a select"}},
		{"AChannelTypeIsRefused", []string{"coordinator/internal/hub/hub.go", "package p\n\ntype waiter struct{ done chan struct{} }\n"},
			[]string{"hub.go:3: has a channel type"}},
		{"AReceiveIsRefused", []string{"coordinator/internal/hub/hub.go", body("<-done")}, []string{"hub.go:4: receives"}},
		{"ASendIsRefused", []string{"coordinator/internal/batcher/batcher.go", body("done <- 1")}, []string{"batcher.go:4: sends"}},
		{"TheClockIsRefusedUnderAnyName", []string{"coordinator/internal/keeper/keeper.go", timed("Now()")},
			[]string{"keeper.go:5: calls time.Now"}},
		{"AFunctionValueOfTheClockIsRefusedToo", []string{"coordinator/internal/keeper/keeper.go", timed("Since")},
			[]string{"keeper.go:5: calls time.Since"}},
		{"ATimerIsRefused", []string{"coordinator/internal/expiry/expiry.go", timed("NewTimer(1)")},
			[]string{"expiry.go:5: calls time.NewTimer"}},
		{"DurationsAreFine", []string{"statemachine/batch.go", timed("Second")}, nil},
		{"ALockIsRefused", []string{"statemachine/machine.go", importing("sync")}, []string{"machine.go:3: imports sync"}},
		{"TheGuardMayLock", []string{"token/guard.go", importing("sync")}, nil},
		{"TheRestOfTokenMayNot", []string{"token/token.go", importing("sync")}, []string{"token.go:3: imports sync"}},
		{"RandomIsRefused", []string{"coordinator/internal/keeper/jitter.go", importing("math/rand/v2")}, []string{"imports math/rand/v2"}},
		{"ALoggerIsRefused", []string{"statemachine/machine.go", importing("log/slog")}, []string{"imports log/slog"}},
		{"AContextIsRefused", []string{"coordinator/internal/hub/hub.go", importing("context")}, []string{"imports context"}},
		{"TokenHasNoDependency", []string{"token/token.go", importing("github.com/vmihailenco/msgpack/v5")},
			[]string{"imports github.com/vmihailenco/msgpack/v5"}},
		{"TheMachineMayImportItsCodec", []string{"statemachine/codec.go", importing("github.com/vmihailenco/msgpack/v5")}, nil},
		{"TheKeeperMayImportTheMachine", []string{"coordinator/internal/keeper/keeper.go", importing(Module + "/statemachine")}, nil},
		{"TestsOfAPurePackageMayDoAnything", []string{"statemachine/machine_test.go", importing("math/rand")}, nil},
		{"APackageBelowIsNotMeant", []string{"statemachine/pebblestore/store.go", importing("sync")}, nil},
	})
}

func TestPurePresent(t *testing.T) {
	file := func(dir string) []string { return []string{dir + "/doc.go", "package p\n"} }
	var start []string
	start = append(start, file("statemachine")...)
	start = append(start, file("token")...)
	all := append([]string{}, start...)
	all = append(all, file("coordinator")...)
	for _, name := range strings.Fields("keeper batcher hub expiry") {
		all = append(all, file("coordinator/internal/"+name)...)
	}
	renamed := append([]string{}, all...)
	for i := range renamed {
		renamed[i] = strings.Replace(renamed[i], "internal/keeper", "internal/holder", 1)
	}
	runSamples(t, checkPurePresent, []sample{
		{"WhatIsNotBuiltYetIsNotMissed", start, nil},
		{"AllThere", all, nil},
		{"ARenamedPackageIsMissed", renamed, []string{"coordinator/internal/keeper: the pure package is not there"}},
		{"TheMachineIsAlwaysMissed", []string{"README.md", ""}, []string{"statemachine: "}},
		{"TheMachineNeedsTokens", file("statemachine"), []string{"token: "}},
	})
}

func TestReflection(t *testing.T) {
	call := func(name string) string {
		return "package p\n\nimport \"github.com/vmihailenco/msgpack/v5\"\n\nvar x = msgpack." + name + "\n"
	}
	runSamples(t, checkReflection, []sample{
		{"UnmarshalIsRefused", []string{"statemachine/codec.go", call("Unmarshal")}, []string{"codec.go:5: calls msgpack.Unmarshal"}},
		{"MarshalIsRefused", []string{"coordinator/identity.go", call("Marshal")}, []string{"identity.go:5: calls msgpack.Marshal"}},
		{"EncodersAreFine", []string{"statemachine/codec.go", call("NewEncoder")}, nil},
		{"GobIsRefused", []string{"transport/frame.go", importing("encoding/gob")}, []string{"frame.go:3: imports encoding/gob"}},
		{"TestsMayCompareWithIt", []string{"statemachine/codec_test.go", call("Unmarshal")}, nil},
	})
}
