package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"time"
)

// verdict is what became of a fault.
type verdict struct {
	fault  fault
	caught bool
	by     string // package and test, or what else ended the run
	says   string // the first line that tells why
	took   time.Duration
}

// testMax bounds one go test of one fault: what does not end is caught, too.
const testMax = 5 * time.Minute

// judge runs the tests of a fault that is in the tree.
func judge(ctx context.Context, t tree, f fault) verdict {
	v := verdict{fault: f}
	began := time.Now()
	for _, test := range f.tests {
		args := append([]string{"test", "-count=1", "-failfast", fmt.Sprintf("-timeout=%v", testMax)}, strings.Fields(test)...)
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir = t.dir
		output, err := cmd.CombinedOutput()
		if err != nil {
			v.caught, v.by, v.says = readFailure(string(output))
			if v.by == "" {
				v.by = err.Error()
			}
			break
		}
		v.by = "no test"
	}
	v.took = time.Since(began).Round(time.Second)
	return v
}

var (
	failedTest = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)
	failedPkg  = regexp.MustCompile(`(?m)^FAIL[ \t]+(\S+)`)
	panicked   = regexp.MustCompile(`(?m)^(?:panic|fatal error): (.*)$`)
	message    = regexp.MustCompile(`(?m)^[ \t]+(?:Error:|Messages:|\S+_test\.go:\d+:)[ \t]*(\S.*)$`)
)

// readFailure reads what go test printed when it failed. A copy that does not
// build is not caught.
func readFailure(output string) (caught bool, by, says string) {
	if strings.Contains(output, "[build failed]") || strings.Contains(output, "[setup failed]") {
		return false, "it does not compile", strings.TrimSpace(firstLines(output, 3))
	}
	// The innermost test that failed is named last of its tree.
	if all := failedTest.FindAllStringSubmatch(output, -1); len(all) > 0 {
		by = all[0][1]
		for _, m := range all {
			if strings.HasPrefix(m[1], by+"/") {
				by = m[1]
			}
		}
	}
	if m := panicked.FindStringSubmatch(output); m != nil {
		says = m[1]
		if by == "" {
			by = "a panic"
		}
	} else if m := message.FindStringSubmatch(output); m != nil {
		says = m[1]
	}
	if m := failedPkg.FindStringSubmatch(output); m != nil {
		by = m[1][strings.LastIndex(m[1], "/")+1:] + " " + by
		return true, by, says
	}
	return by != "", by, says
}

func firstLines(text string, n int) string {
	lines := strings.SplitN(text, "\n", n+1)
	return strings.Join(lines[:min(n, len(lines))], "\n")
}
