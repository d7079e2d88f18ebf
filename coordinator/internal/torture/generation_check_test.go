package torture

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/locktest/history"
	"github.com/palisade-go/palisade/token"
)

func TestCheckLogFindsWhatIsWrong(t *testing.T) {
	taken := func(t token.Token, value string) logged { return logged{WriteOrder{1, "r", t, value}, true} }
	refused := func(t token.Token, value string) logged { return logged{WriteOrder{1, "r", t, value}, false} }
	wrote := func(o history.Outcome, t token.Token, value string) history.Record {
		return history.Record{Kind: history.Write, Outcome: o, Resource: "r", Token: t, Value: value}
	}
	for name, row := range map[string]struct {
		log     []logged
		left    string
		records []history.Record
		says    string // "": it is right
	}{
		"WritesThatWereTakenAndRefused": {
			log: []logged{taken(1, "a"), taken(1, "b"), taken(3, "c"), refused(2, "d")}, left: "c",
			records: []history.Record{
				wrote(history.Done, 1, "a"), wrote(history.Unknown, 1, "b"), wrote(history.Done, 3, "c"), wrote(history.Stale, 2, "d"),
			},
		},
		"AnUnknownWriteThatNeverCame": {records: []history.Record{wrote(history.Unknown, 1, "a")}},
		"AStaleWriteWasTaken": {
			log: []logged{taken(2, "a"), taken(1, "b")}, left: "b",
			records: []history.Record{wrote(history.Done, 2, "a"), wrote(history.Done, 1, "b")}, says: "the register took",
		},
		"AWriteWasRefusedForNoReason": {
			log: []logged{taken(1, "a"), refused(1, "b")}, left: "a",
			records: []history.Record{wrote(history.Done, 1, "a"), wrote(history.Stale, 1, "b")}, says: "the register refused",
		},
		"NobodyWroteIt":      {log: []logged{taken(1, "a")}, left: "a", says: "its writer says"},
		"ItsWriterHasItLate": {log: []logged{taken(1, "a")}, left: "a", records: []history.Record{wrote(history.Stale, 1, "a")}, says: "its writer says"},
		"WithAnotherToken":   {log: []logged{taken(1, "a")}, left: "a", records: []history.Record{wrote(history.Done, 2, "a")}, says: "its writer says"},
		"ItIsThereTwice": {
			log: []logged{taken(1, "a"), taken(1, "a")}, left: "a",
			records: []history.Record{wrote(history.Done, 1, "a")}, says: "its writer says",
		},
		"AWriteWasLost": {records: []history.Record{wrote(history.Done, 1, "a")}, says: "has nothing of"},
		"AnOlderValueIsLeft": {
			log: []logged{taken(1, "a"), taken(2, "b")}, left: "a",
			records: []history.Record{wrote(history.Done, 1, "a"), wrote(history.Done, 2, "b")}, says: "the last that was taken",
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := checkLog(row.log, map[string]string{"r": row.left}, row.records)
			if row.says == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, row.says)
			}
		})
	}
}

func TestNothingLeft(t *testing.T) {
	require.NoError(t, nothingLeft([]string{"meta\npresence 1", "meta"}))
	require.ErrorContains(t, nothingLeft([]string{"meta", "meta\nlease 1.1.1"}), "group 2")
}
