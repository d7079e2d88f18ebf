package lint

import (
	"strings"
	"testing"
)

func TestPackageNames(t *testing.T) {
	runSamples(t, checkPackageNames, []sample{
		{"UtilIsRefused", []string{"coordinator/internal/util/x.go", "package util\n"}, []string{`x.go:1: is in a package named "util"`}},
		{"APackageClauseCountsToo", []string{"coordinator/internal/keys/x.go", "package common\n"}, []string{`named "common"`}},
		{"SoDoesADirectory", []string{"statemachine/types/x.go", "package machine\n"}, []string{`named "types"`}},
		{"HelpersIsRefusedInTests", []string{"token/x_test.go", "package helpers_test\n"}, []string{`named "helpers"`}},
		{"ASuffixIsRefused", []string{"transport/netutil/x.go", "package netutil\n"}, []string{`named "netutil"`}},
		{"ANounIsFine", []string{"coordinator/internal/hub/x.go", "package hub\n"}, nil},
	})
}

func TestPackageDocs(t *testing.T) {
	runSamples(t, checkPackageDocs, []sample{
		{"OneIsFine", []string{"token/doc.go", "// Package token is x.\npackage token\n", "token/token.go", "package token\n"}, nil},
		{"NoneIsReportedOnce", []string{"token/guard.go", "package token\n", "token/token.go", "package token\n"},
			[]string{"token/guard.go: package token has no package comment"}},
		{"TwoAreReported", []string{"token/doc.go", "// Package token is x.\npackage token\n", "token/token.go", "// Package token is y.\npackage token\n"},
			[]string{"has 2 package comments, in token/doc.go, token/token.go"}},
		{"ABuildTagIsNoComment", []string{"token/a.go", "//go:build linux\n\npackage token\n"}, []string{"has no package comment"}},
		{"ATestOnlyPackageNeedsNone", []string{"coordinator/internal/torture/x_test.go", "package torture\n"}, nil},
	})
}

func TestLength(t *testing.T) {
	long := "package p\n" + strings.Repeat("\n", LinesMax-1)
	runSamples(t, checkLength, []sample{
		{"TheGreatestLengthIsFine", []string{"token/token.go", long}, nil},
		{"OneLineMoreIsNot", []string{"token/token.go", long + "\n"}, []string{"token/token.go: has 501 lines"}},
		{"TestsCount", []string{"token/token_test.go", long + "\n"}, []string{"has 501 lines"}},
		{"TextDoesNot", []string{"docs/guarantees.md", long + "\n"}, nil},
	})
}
