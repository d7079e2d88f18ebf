package dashboard

import "time"

// View is all that the page shows, as JSON. Durations are in seconds. Lists are
// bounded; the totals are not.
type View struct {
	At       time.Time         `json:"at"`
	Node     Node              `json:"node"`
	Peers    []Peer            `json:"peers"`
	Groups   []Group           `json:"groups"`
	Totals   Totals            `json:"totals"`
	Survey   Survey            `json:"survey"`
	Leases   Leases            `json:"leases"`
	Queues   []Key             `json:"queues"` // the longest
	WaitsFor []WaitsFor        `json:"waits_for"`
	Cycle    bool              `json:"waits_for_has_cycle"`
	Hot      []HotKey          `json:"hot_keys"` // of this node's waits
	Losses   []Loss            `json:"losses"`   // of this node, the newest first
	Events   []Happening       `json:"events"`   // of this node, the newest first
	WaitEnds map[string]uint64 `json:"wait_ends"`
	Dropped  uint64            `json:"dropped_events"` // of which nothing here tells
	Trend    []Minute          `json:"trend"`          // of this node, by the minute, the oldest first
}

// Node is the node whose page this is.
type Node struct {
	Open        bool    `json:"open"`
	Cluster     string  `json:"cluster"`
	ID          uint64  `json:"id"`
	Incarnation uint64  `json:"incarnation"`
	Watched     float64 `json:"watched_seconds"`
	Requests    int     `json:"requests"`
	DiskFree    uint64  `json:"disk_free_bytes"`
	// Problems say what is wrong with the node, in words; none if it is well.
	Problems []string `json:"problems"`
}

// Peer is another node.
type Peer struct {
	ID      uint64 `json:"id"`
	Address string `json:"address"`
	Reached bool   `json:"reached"`
	Problem string `json:"problem"`
}

// Group is what this node's replica of a group knows.
type Group struct {
	ID           int     `json:"id"`
	Leader       uint64  `json:"leader"` // 0: none is known
	Term         uint64  `json:"term"`
	Applied      uint64  `json:"applied_index"`
	Applying     float64 `json:"applying_seconds"`
	Leases       int     `json:"leases"`
	Waiters      int     `json:"waiters"`
	LongestQueue int     `json:"longest_queue"`
	Nodes        []Heard `json:"nodes"`
}

// Heard is when a group last applied something of a node.
type Heard struct {
	ID    uint64  `json:"id"`
	Known bool    `json:"known"` // it has announced itself
	Ago   float64 `json:"ago_seconds"`
	Left  bool    `json:"left"`
}

// Totals are sums over all groups.
type Totals struct {
	Leases  int `json:"leases"`
	Waiters int `json:"waiters"`
	Keys    int `json:"keys"`
}

// Survey says of when the lists of keys are.
type Survey struct {
	Age  float64 `json:"age_seconds"`
	Took float64 `json:"took_seconds"`
}

// Leases are one page of the leases that are listed.
type Leases struct {
	Sort   string `json:"sort"`
	Page   int    `json:"page"` // from 1
	Pages  int    `json:"pages"`
	Listed int    `json:"listed"` // on all pages
	More   bool   `json:"more"`   // there are more, which are not listed
	Rows   []Key  `json:"rows"`
}

// Key is a key that is held or waited for.
type Key struct {
	// Key has its bytes, if they are UTF-8; KeyHex has them in any case.
	Key     string   `json:"key"`
	KeyHex  string   `json:"key_hex"`
	Group   int      `json:"group"`
	Held    bool     `json:"held"`
	Holder  uint64   `json:"holder"`
	Token   string   `json:"token"`
	Age     float64  `json:"age_seconds"` // by the wall clocks of two machines: for display
	TTL     float64  `json:"ttl_seconds"`
	Left    float64  `json:"remaining_seconds"`
	Request string   `json:"request_id"`
	Meta    string   `json:"metadata,omitempty"`
	Waiters int      `json:"waiters"`
	Queue   []Waiter `json:"queue"` // the first of them
}

// Waiter is a request in line.
type Waiter struct {
	Place   int     `json:"place"` // from 1
	Node    uint64  `json:"node"`
	Waits   float64 `json:"waits_seconds"` // by the wall clocks of two machines: for display
	Request string  `json:"request_id"`
	Meta    string  `json:"metadata,omitempty"`
}

// WaitsFor says that requests of a node wait for keys that another one, or itself,
// holds. Only the longest queues are looked at, and the first of each.
type WaitsFor struct {
	Waiter   uint64   `json:"waiter"`
	Holder   uint64   `json:"holder"`
	Requests int      `json:"requests"`
	Keys     []string `json:"keys"` // those with most of them
}

// HotKey is a key for which this node has waited: for Waited at most, and for
// Waited-Excess at least, within the last 10 to 20 minutes.
type HotKey struct {
	Key    string  `json:"key"`
	Waited float64 `json:"waited_seconds"`
	Excess float64 `json:"excess_seconds"`
}

// Loss is a lease of this node that was lost.
type Loss struct {
	At      time.Time `json:"at"`
	Request uint64    `json:"request"`
	Key     string    `json:"key"`
	Keys    int       `json:"keys"`
	Token   string    `json:"token"`
	Group   int       `json:"group"`
	Reason  string    `json:"reason"`
	Why     string    `json:"why"`
	Held    float64   `json:"held_seconds"`
	TTL     float64   `json:"ttl_seconds"`
	// ReleasedAfter is how long after the loss its owner released it: work may have
	// gone on until then. Nil: not yet.
	ReleasedAfter *float64 `json:"released_after_seconds"`
}

// Happening is something that happened to the node or a group.
type Happening struct {
	At   time.Time `json:"at"`
	Bad  bool      `json:"bad"`
	What string    `json:"what"`
}

// Minute is what happened in a minute at this node.
type Minute struct {
	At            time.Time `json:"at"`
	Acquired      int       `json:"acquired"`
	Failed        int       `json:"failed"`
	Losses        int       `json:"losses"`
	LeaderChanges int       `json:"leader_changes"`
	WaitP50       float64   `json:"wait_p50_seconds"` // rounded up to a power of two
	WaitP99       float64   `json:"wait_p99_seconds"`
}

// KeyView is all that is known of one key, as JSON.
type KeyView struct {
	At time.Time `json:"at"`
	Key
	Taken bool `json:"taken"`
	Page  int  `json:"page"` // of the queue, from 1
	Pages int  `json:"pages"`
	// Asked: the group was asked. Otherwise it is what this node's replica knows.
	Asked   bool   `json:"asked"`
	Problem string `json:"problem"` // why the group gave no answer
}

// Hits are the keys that begin with a text, as JSON.
type Hits struct {
	Prefix string `json:"prefix"`
	More   bool   `json:"more"` // there are more than those
	Keys   []Key  `json:"keys"`
}

func seconds(d time.Duration) float64 { return d.Seconds() }
