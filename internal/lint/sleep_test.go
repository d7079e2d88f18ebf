package lint

import "testing"

func TestSleep(t *testing.T) {
	waits := func(statement string) string {
		return "package p\n\nimport \"time\"\n\nfunc f() {\n" + statement + "\n}\n"
	}
	forbidden := func(tree *Tree) []Finding { return checkSleep(tree, nil) }
	runSamples(t, forbidden, []sample{
		{"ASleepingTestIsReported", []string{"token/x_test.go", waits("time.Sleep(1)")}, []string{"x_test.go:6: waits with time.Sleep"}},
		{"ASleepingKitIsReported", []string{"coordinator/locktest/wait.go", waits("time.Sleep(1)")}, []string{"wait.go:6: waits"}},
		{"ALoneReceiveFromAfterIsASleep", []string{"token/x_test.go", waits("<-time.After(1)")}, []string{"waits with time.After"}},
		{"ATimeLimitInASelectIsNone", []string{"token/x_test.go", waits("select {\ncase <-time.After(1):\n}")}, nil},
		{"ASleepInTheBodyOfASelectIsOne", []string{"token/x_test.go", waits("select {\ncase <-x:\n\t<-time.After(1)\n}")},
			[]string{"x_test.go:8: waits with time.After"}},
		{"AModuleOfItsOwnIsNoExcuse", []string{"token/a/go.mod", "module a\n", "token/a/x_test.go", waits("time.Sleep(1)")},
			[]string{"token/a/x_test.go:6: waits with time.Sleep"}},
		{"AnotherSleepIsNotMeant", []string{"token/x_test.go", waits("clock.Sleep(1)")}, nil},
		{"ProgramsAreNotMeant", []string{"examples/quickstart/main.go", waits("time.Sleep(1)")}, nil},
	})
	allowed := func(tree *Tree) []Finding {
		return checkSleep(tree, map[string]string{"token/x_test.go": "the disk has no signal"})
	}
	runSamples(t, allowed, []sample{
		{"AFileOnTheListMaySleep", []string{"token/x_test.go", waits("time.Sleep(1)")}, nil},
		{"AnEntryThatExcusesNothingIsReported", []string{"token/x_test.go", waits("f()")},
			[]string{"token/x_test.go: may sleep (the disk has no signal) but does not"}},
		{"SoIsOneWhoseFileIsGone", []string{"token/y_test.go", waits("f()")}, []string{"token/x_test.go: may sleep"}},
	})
}
