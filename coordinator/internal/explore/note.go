package explore

import "math/bits"

// Note is something that a search came across. A search that was to show
// what expiry does, and never met one, has shown nothing.
type Note uint8

// The notes.
const (
	Granted        Note = iota
	GrantedPair         // two keys at once
	Queued              // took its place in line
	Refused             // a try that found its keys taken
	Withdrawn           // cancelled, while in line
	Released            // a lease that was given back
	Repeated            // the log got the last batch of a node once more
	Overtaken           // the log got a batch after a later one of its node
	Superseded          // the log got a batch of an earlier start
	AskedAgain          // under a new seq
	GivenBack           // it came too late, and was given back while its caller waits
	ExpireProposed      // or a limit, or a sweep
	ProposedBehind      // by a leader that had not applied all of the log
	ExpireStale         // an expiry named an older batch than the last one, and did nothing
	Expired
	LimitEnded
	Swept
	LostByWindow
	LostByLimit
	LostByEvent // the log told of an end that the clock had not told of before
	LostByState // so did a state that was installed
	Unavailable
	Resynced // a state settled a batch
	Disowned // the log had something that the hub did not know
	HeldBack // a request is not sent, because nothing is seen applied
	Retried
	Failing
	Recovered
	Silenced // a node would have needed one batch more
	Elected
	TookOffice
	Installed
	Restarted
	Rested

	// NoteCount is how many there are.
	NoteCount
)

var noteNames = [NoteCount]string{
	"granted", "granted a pair", "queued", "refused", "withdrawn", "released", "repeated", "overtaken", "superseded",
	"asked again", "given back", "expiry proposed", "proposed behind", "stale expiry", "expired", "limit ended", "swept",
	"lost by window", "lost by limit", "lost by event", "lost by state", "unavailable", "resynced", "disowned",
	"held back", "retried", "failing", "recovered", "silenced", "elected", "took office", "installed", "restarted",
	"rested",
}

// String returns the note in words.
func (n Note) String() string { return noteNames[n] }

// notes is a set of them.
type notes uint64

func (s *notes) add(n Note) { *s |= 1 << n }

// each calls do with each of them.
func (s notes) each(do func(Note)) {
	for rest := uint64(s); rest != 0; rest &= rest - 1 {
		do(Note(bits.TrailingZeros64(rest)))
	}
}
