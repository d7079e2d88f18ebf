package explore

func a(keys ...string) (asks []Ask) {
	for _, k := range keys {
		asks = append(asks, Ask{Keys: k})
	}
	return asks
}

// usual are the notes that every world comes across in which both nodes want
// the same key.
var usual = []Note{Granted, Queued, Released, Repeated, ExpireProposed, Expired, Retried, Failing, Recovered, Silenced}

// Worlds are small enough to be searched whole in a test. Together they have
// every kind of event; each says which it is there for.
//
// T is 4 where nothing depends on what happens within a quarter of it: a
// holder then renews every unit. With 4 the window is as long as T, because
// 0.9*T is rounded up to units. That is the least safe window that is still
// safe with clocks that are right. Where the margin matters, T is larger.
var Worlds = []Config{
	{
		// A lease and a waiter, with withdrawals, and time enough to be told
		// of a loss, to come too late, and to ask again.
		Name: "key", T: 4, Batches: [nodeCount]int{4, 3}, Lag: 1, Cancels: 1, HealEvery: 8,
		Asks:  [nodeCount][]Ask{a("a"), a("a")},
		Meets: append(usual, Withdrawn, GivenBack, AskedAgain, LostByWindow, Unavailable),
	},
	{
		// The same with eighths: retries and renewals at different times.
		Name: "eighths", T: 8, Batches: [nodeCount]int{4, 2}, Lag: 1, HealEvery: 8,
		Asks:  [nodeCount][]Ask{a("a"), a("a")},
		Meets: append(usual, GivenBack, AskedAgain, LostByWindow, Unavailable),
	},
	{
		// One asks for two keys, the other for each of them.
		Name: "pair", T: 4, Batches: [nodeCount]int{3, 3}, Lag: 1, Cancels: 1, HealEvery: 8,
		Asks:  [nodeCount][]Ask{a("ab"), a("a", "b")},
		Meets: append(usual, GrantedPair, Withdrawn, GivenBack, HeldBack),
	},
	{
		// A try against an own lease, a foreign one and a waiter.
		Name: "try", T: 4, Batches: [nodeCount]int{3, 3}, Lag: 1, HealEvery: 1,
		Asks:  [nodeCount][]Ask{{{Keys: "a"}, {Keys: "a", Try: true}}, a("a")},
		Meets: append(usual, Refused),
	},
	{
		// Old batches and old expiries come to the log after newer ones, and
		// replicas are two entries behind.
		Name: "late", T: 4, Batches: [nodeCount]int{3, 3}, Memory: 2, Lag: 2, HealEvery: 4,
		Asks:  [nodeCount][]Ask{a("a"), a("a")},
		Meets: append(usual, Overtaken, ExpireStale, ProposedBehind),
	},
	{
		// The second batch of a node comes to the log before the first one,
		// whose acquire is dead then and has to be asked again.
		Name: "overtaken", T: 4, Batches: [nodeCount]int{6, 1}, Memory: 1, Lag: 1, HealEvery: 4,
		Asks:  [nodeCount][]Ask{a("a", "b"), nil},
		Meets: []Note{Granted, Overtaken, AskedAgain, HeldBack},
	},
	{
		// A holder keeps its lease, or not, while the leader changes twice.
		Name: "leaders", T: 4, Batches: [nodeCount]int{3, 1}, Lag: 1, Leaders: 2, HealEvery: 8,
		Asks:  [nodeCount][]Ask{a("a"), nil},
		Meets: []Note{Granted, Released, Elected, TookOffice, ExpireProposed, ProposedBehind, Expired},
	},
	{
		// The same for a holder beside the first leader.
		Name: "leader", T: 4, Batches: [nodeCount]int{1, 3}, Lag: 1, Leaders: 1, HealEvery: 1,
		Asks:  [nodeCount][]Ask{nil, a("a")},
		Meets: []Note{Granted, Released, Elected, TookOffice, ExpireProposed, ProposedBehind, Expired},
	},
	{
		Name: "snapshot", T: 4, Batches: [nodeCount]int{3, 2}, Lag: 2, Installs: 1, HealEvery: 8,
		Asks:  [nodeCount][]Ask{a("a"), a("a")},
		Meets: append(usual, Installed, Resynced, TookOffice),
	},
	{
		// The node of the leader restarts, and asks for what its earlier
		// start had.
		Name: "restart", T: 4, Batches: [nodeCount]int{2, 1}, Lag: 1, Restarts: [nodeCount]int{1, 0}, HealEvery: 4,
		Asks: [nodeCount][]Ask{a("a"), nil}, Again: [nodeCount][]Ask{a("a"), nil},
		Meets: []Note{Granted, Queued, Restarted, Elected, TookOffice, Superseded, Swept, Expired, ExpireStale},
	},
	{
		// The other node restarts, and its earlier start is in line, or
		// holds while somebody is in line.
		Name: "restart-other", T: 4, Batches: [nodeCount]int{2, 2}, Lag: 1, Restarts: [nodeCount]int{0, 1}, HealEvery: 8,
		Asks:  [nodeCount][]Ask{a("a"), a("a")},
		Meets: []Note{Granted, Queued, Restarted, Superseded, Swept, Expired, ExpireStale},
	},
	{
		// A hub does not run while time passes: it looks too late.
		Name: "rest", T: 4, Batches: [nodeCount]int{3, 3}, Lag: 1, Rests: 2, HealEvery: 8,
		Asks:  [nodeCount][]Ask{a("a"), a("a")},
		Meets: append(usual, Rested, LostByWindow, Unavailable, GivenBack),
	},
	{
		// A limit of half a TTL, for a holder that renews all the time and
		// hears of its grant later than the leader.
		Name: "limit", T: 8, Batches: [nodeCount]int{1, 6}, Lag: 1, HealEvery: 8,
		Asks:  [nodeCount][]Ask{nil, {{Keys: "a", Limit: 4}}},
		Meets: []Note{Granted, LimitEnded, LostByLimit, Expired},
	},
	{
		// The same with somebody in line.
		Name: "limit-line", T: 8, Batches: [nodeCount]int{2, 3}, Lag: 1, HealEvery: 4,
		Asks:  [nodeCount][]Ask{a("a"), {{Keys: "a", Limit: 4}}},
		Meets: []Note{Granted, Queued, LimitEnded, Expired, GivenBack},
	},
	{
		// Windows of 0.9*T as they are.
		Name: "margin", T: 40, Batches: [nodeCount]int{3, 2}, Lag: 1, HealEvery: 1,
		Asks:  [nodeCount][]Ask{a("a"), a("a")},
		Meets: append(usual, GivenBack),
	},
	{
		// A holder whose clock is 5 % slow, and a leader whose is 5 % fast.
		Name: "slow", T: 8000, Rates: [nodeCount]int{21, 19}, Sparse: true, Batches: [nodeCount]int{2, 3}, Lag: 1, HealEvery: 1,
		Asks:  [nodeCount][]Ask{a("a"), a("a")},
		Meets: usual,
	},
	{
		// And the other way round.
		Name: "fast", T: 8000, Rates: [nodeCount]int{19, 21}, Sparse: true, Batches: [nodeCount]int{2, 3}, Lag: 1, HealEvery: 1,
		Asks:  [nodeCount][]Ask{a("a"), a("a")},
		Meets: usual,
	},
}

// DeepWorlds are larger. Not all of them can be searched whole in an hour.
var DeepWorlds = []Config{
	{
		Name: "deep-key", T: 4, Batches: [nodeCount]int{5, 4}, Lag: 1, Cancels: 1, HealEvery: 16,
		Asks:  [nodeCount][]Ask{a("a"), a("a")},
		Meets: append(usual, Withdrawn, GivenBack, AskedAgain, LostByWindow, Unavailable),
	},
	{
		Name: "deep-pair", T: 4, Batches: [nodeCount]int{4, 4}, Memory: 1, Lag: 2, Cancels: 2, HealEvery: 16,
		Asks:  [nodeCount][]Ask{a("ab", "a"), a("ab", "b")},
		Meets: append(usual, GrantedPair, Withdrawn, GivenBack),
	},
	{
		Name: "deep-leaders", T: 4, Batches: [nodeCount]int{2, 2}, Lag: 1, Leaders: 2, HealEvery: 16,
		Asks:  [nodeCount][]Ask{a("a"), a("a")},
		Meets: []Note{Granted, Queued, Elected, TookOffice, ExpireProposed, ProposedBehind, Expired},
	},
	{
		Name: "deep-snapshot", T: 4, Batches: [nodeCount]int{4, 2}, Lag: 1, Cancels: 1, Installs: 2, HealEvery: 16,
		Asks:  [nodeCount][]Ask{a("a"), a("a")},
		Meets: append(usual, Installed, Resynced, Withdrawn, AskedAgain, LostByWindow),
	},
	{
		Name: "deep-restart", T: 4, Batches: [nodeCount]int{2, 2}, Lag: 1, Restarts: [nodeCount]int{1, 0}, HealEvery: 16,
		Asks: [nodeCount][]Ask{a("a"), a("a")}, Again: [nodeCount][]Ask{a("a"), nil},
		Meets: []Note{Granted, Queued, Restarted, Elected, TookOffice, Superseded, Swept, Expired},
	},
}
