package storetest

import (
	"context"
	"testing"

	"github.com/palisade-go/palisade/token/objectfence"
)

// reporter is the part of testing.T that a rule uses. The package's own tests
// give another one, to see rules fail.
type reporter interface {
	Helper()
	Fatalf(format string, args ...any)
}

// rule is one statement about every store, and the check of it.
type rule struct {
	statement string
	check     func(ctx context.Context, t reporter, store objectfence.Store)
}

// Run checks every rule of stores as a sub-test, each on an empty store of its
// own that open returns. open registers on t what closes it.
func Run(t *testing.T, open func(t *testing.T) objectfence.Store) {
	t.Helper()
	for _, rule := range rules {
		t.Run(rule.statement, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			rule.check(ctx, t, open(t))
		})
	}
}

var rules = []rule{
	{"WhatIsNotThereIsNotFound", notFound},
	{"WhatWasPutIsRead", readBack},
	{"BodiesAreCopied", copied},
	{"AnObjectIsMadeOnce", madeOnce},
	{"AnETagReplacesOnce", replacedOnce},
	{"AWrongETagReplacesNothing", wrongETag},
	{"AnETagMakesNothing", nothingMade},
	{"NamesAreComparedToTheEnd", names},
	{"BadNamesAreRefused", badNames},
	{"AFinishedContextDoesNothing", finished},
	{"OfManyAtOnceOneWins", oneWins},
	{"NoUpdateIsLost", noneLost},
	{"ReadersSeeWholeBodies", wholeBodies},
}
