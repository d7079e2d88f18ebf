package lint

import "testing"

func TestMachinePaths(t *testing.T) {
	// The paths are put together here so that this file passes its own rule.
	top := func(name string) string { return "/" + name + "/" }
	runSamples(t, checkMachinePaths, []sample{
		{"AHomeDirectoryIsReported", []string{"docs/testing.md", "a\nsee " + top("home") + "me/x\n"},
			[]string{"docs/testing.md:2: has the path " + top("home") + "me/x"}},
		{"SoIsRoots", []string{"Makefile", "X=" + top("root") + "go"}, []string{"Makefile:1: has the path"}},
		{"SoIsAQuotedPath", []string{"token/x.go", "package p\n\nvar x = \"" + top("work") + "x\"\n"}, []string{"x.go:3: has the path"}},
		{"SoIsAMacsHome", []string{"README.md", top("Users") + "me"}, []string{"README.md:1: has the path"}},
		{"ARelativePathIsFine", []string{"README.md", "internal" + top("work") + "x"}, nil},
		{"AURLIsFine", []string{"README.md", "https://example.com" + top("home") + "x"}, nil},
		{"HashesAreLeftOut", []string{"tools/go.sum", "h1:+" + top("work") + "="}, nil},
	})
}

func TestLinks(t *testing.T) {
	runSamples(t, checkLinks, []sample{
		{"AMissingFileIsReported", []string{"docs/time.md", "\nsee [it](glossary.md)\n"}, []string{"docs/time.md:2: links to glossary.md"}},
		{"AFileBesideIsFound", []string{"docs/time.md", "[it](glossary.md#window)", "docs/glossary.md", ""}, nil},
		{"AFileAboveIsFound", []string{"docs/time.md", "[it](../README.md)", "README.md", ""}, nil},
		{"ADirectoryIsFound", []string{"README.md", "[it](docs/decisions)", "docs/decisions/0001-x.md", ""}, nil},
		{"URLsAndFragmentsAreLeftAlone", []string{"README.md", "[a](https://example.com/x) [b](#status)"}, nil},
	})
}

func TestReadme(t *testing.T) {
	const good = "# Palisade\n\n    go run ./examples/quickstart\n    go test ./...\n"
	runSamples(t, checkReadme, []sample{
		{"BothCommandsAreFine", []string{"README.md", good}, nil},
		{"AMissingCommandIsReported", []string{"README.md", "    go test ./...\n"}, []string{"go run ./examples/quickstart"}},
		{"ACommandInsideASentenceIsNone", []string{"README.md", "go run ./examples/quickstart\nrun go test ./... now\n"}, []string{"go test"}},
		{"AMissingReadmeIsReported", []string{"docs/time.md", ""}, []string{"README.md: is not there"}},
	})
}
