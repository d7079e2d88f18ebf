package dashboard_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/dashboard"
	"github.com/palisade-go/palisade/coordinator/locktest"
)

// site is a cluster with the page of its first node, mounted below a prefix.
type site struct {
	testing.TB
	*locktest.Cluster
	page *dashboard.Dashboard
	url  string
}

func newSite(t testing.TB, nodes int, o dashboard.Options, opts ...locktest.Option) *site {
	t.Helper()
	s := &site{TB: t, page: dashboard.New(o)}
	opts = append(opts, locktest.WithConfig(func(node int, cfg *coordinator.Config) {
		cfg.TTL = time.Hour
		if node == 1 {
			cfg.Observers = append(cfg.Observers, s.page)
		}
	}))
	s.Cluster = locktest.New(t, nodes, opts...)
	s.page.Watch(s.coordinator(1))
	s.url = serve(t, s.page)
	return s
}

// serve mounts a page and returns where.
func serve(t testing.TB, page *dashboard.Dashboard) string {
	mux := http.NewServeMux()
	mux.Handle("/some/where/", http.StripPrefix("/some/where", page))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL + "/some/where/"
}

func (s *site) coordinator(node int) *coordinator.Coordinator { return s.Node(node).Coordinator() }

func patient(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// hold has a node hold keys until the end of the test.
func (s *site) hold(node int, opts []coordinator.AcquireOption, keys ...string) *coordinator.LeaseSet {
	s.Helper()
	set, err := s.coordinator(node).AcquireAll(patient(s), keys, opts...)
	require.NoError(s, err)
	s.Cleanup(func() { runtime.KeepAlive(set) })
	return set
}

// line has requests of a node stand in line until the end of the test.
func (s *site) line(node, requests int, key string) {
	s.Helper()
	info, err := s.coordinator(1).Inspect(patient(s), key)
	require.NoError(s, err)
	ctx, leave := context.WithCancel(patient(s))
	left := make(chan struct{}, requests)
	for range requests {
		go func() {
			_, _ = s.coordinator(node).Acquire(ctx, key)
			left <- struct{}{}
		}()
	}
	s.Cleanup(func() {
		leave()
		for range requests {
			<-left
		}
	})
	require.NoError(s, s.Await(patient(s), "the line", func() bool {
		now, err := s.coordinator(1).Inspect(patient(s), key)
		return err == nil && len(now.Waiters) == len(info.Waiters)+requests
	}))
}

func get(t testing.TB, address string) (status int, header http.Header, body string) {
	t.Helper()
	answer, err := http.Get(address)
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, answer.Header, string(text)
}

// view returns the page's JSON, made after the last survey has grown old.
func (s *site) view(query string) (v dashboard.View) {
	s.Helper()
	_, _, body := get(s, s.url+"json"+query)
	require.NoError(s, json.Unmarshal([]byte(body), &v))
	return v
}

// awaitView waits for a view that is as it should be.
func (s *site) awaitView(query string, like func(dashboard.View) bool) (v dashboard.View) {
	s.Helper()
	require.NoError(s, s.Await(patient(s), "the view", func() bool {
		v = s.view(query)
		return like(v)
	}))
	return v
}

// groupsOf returns in how many groups keys are: as many leases a set of them has.
func groupsOf(s *site, keys ...string) int {
	groups := map[int]bool{}
	for _, key := range keys {
		groups[s.Group(key)] = true
	}
	return len(groups)
}

func TestThePageShowsTheCluster(t *testing.T) {
	s := newSite(t, 3, dashboard.Options{})
	set := s.hold(2, []coordinator.AcquireOption{coordinator.WithRequestID("an id"), coordinator.WithMetadata("private")}, "busy", "also busy")
	s.line(3, 2, "busy")
	s.line(1, 1, "busy")
	v := s.awaitView("", func(v dashboard.View) bool { return len(v.Queues) == 1 && v.Queues[0].Waiters == 3 })

	require.Equal(t, "locktest", v.Node.Cluster)
	require.True(t, v.Node.Open)
	require.EqualValues(t, 1, v.Node.ID)
	require.Equal(t, 1, v.Node.Requests)
	require.Empty(t, v.Node.Problems)
	require.Len(t, v.Peers, 2)
	require.Len(t, v.Groups, locktest.Groups)
	group := v.Groups[s.Group("busy")-1]
	require.NotZero(t, group.Leader)
	require.Equal(t, 3, group.Waiters)
	require.Equal(t, 3, group.LongestQueue)
	require.Len(t, group.Nodes, 3)
	require.Equal(t, dashboard.Totals{Leases: groupsOf(s, "busy", "also busy"), Waiters: 3, Keys: 2}, v.Totals)

	require.Len(t, v.Leases.Rows, 2)
	row := v.Leases.Rows[0]
	tok, _ := set.Token("busy")
	require.Equal(t, "busy", row.Key)
	require.EqualValues(t, 2, row.Holder)
	require.Equal(t, tok.String(), row.Token)
	require.Equal(t, "an id", row.Request)
	require.Equal(t, 3600.0, row.TTL)
	require.Less(t, 3000.0, row.Left)
	require.Empty(t, row.Meta, "not asked for")
	require.Equal(t, []uint64{3, 3, 1}, []uint64{row.Queue[0].Node, row.Queue[1].Node, row.Queue[2].Node})
	require.Equal(t, []dashboard.WaitsFor{
		{Waiter: 3, Holder: 2, Requests: 2, Keys: []string{"busy"}},
		{Waiter: 1, Holder: 2, Requests: 1, Keys: []string{"busy"}},
	}, v.WaitsFor)
	require.False(t, v.Cycle)
	require.Equal(t, "also busy", s.view("?sort=key").Leases.Rows[0].Key)

	_, header, html := get(t, s.url)
	require.Equal(t, "text/html; charset=utf-8", header.Get("Content-Type"))
	for _, shown := range []string{"<title>Palisade locktest, node 1</title>", ">busy</a>", ">also busy</a>", tok.String(), "an id", `class="arrow"`} {
		require.Contains(t, html, shown)
	}
	require.NotContains(t, html, "private")
}

func TestNodesThatWaitForOneAnotherAreTold(t *testing.T) {
	s := newSite(t, 3, dashboard.Options{})
	s.hold(2, nil, "of 2")
	s.hold(3, nil, "of 3")
	s.line(3, 1, "of 2")
	s.line(2, 2, "of 2")
	s.line(2, 1, "of 3")
	v := s.awaitView("", func(v dashboard.View) bool { return len(v.WaitsFor) == 3 })
	require.Equal(t, dashboard.WaitsFor{Waiter: 2, Holder: 2, Requests: 2, Keys: []string{"of 2"}}, v.WaitsFor[0])
	require.True(t, v.Cycle)
	_, _, html := get(t, s.url)
	require.Contains(t, html, "wait for one another in a circle")
	require.Contains(t, html, "itself")
}

func TestThePageOfAKey(t *testing.T) {
	s := newSite(t, 3, dashboard.Options{ShowMetadata: true})
	s.hold(2, []coordinator.AcquireOption{coordinator.WithMetadata("shown")}, "busy")
	s.line(3, 2, "busy")
	key := func(query string) (status int, v dashboard.KeyView) {
		status, _, body := get(t, s.url+"json/key?"+query)
		require.NoError(t, json.Unmarshal([]byte(body), &v))
		return status, v
	}
	for query, asked := range map[string]bool{"key=busy": false, "key=busy&ask": true, "hex=62757379": false} {
		status, v := key(query)
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, asked, v.Asked)
		require.True(t, v.Taken)
		require.EqualValues(t, 2, v.Holder)
		require.Equal(t, "shown", v.Meta)
		require.Equal(t, s.Group("busy"), v.Group)
		require.Len(t, v.Queue, 2)
		require.Equal(t, 2, v.Queue[1].Place)
	}
	status, v := key("key=free")
	require.Equal(t, http.StatusNotFound, status)
	require.False(t, v.Taken)
	_, _, html := get(t, s.url+"key?key=free")
	require.Contains(t, html, "The key is free")
	status, _, _ = get(t, s.url+"json/key?hex=x")
	require.Equal(t, http.StatusBadRequest, status)
	_, v = key("key=")
	require.Contains(t, v.Problem, "a key is empty")

	s.Isolate(1)
	status, v = key("key=busy&ask")
	require.Equal(t, http.StatusOK, status)
	require.False(t, v.Asked)
	require.Contains(t, v.Problem, "the group gave no answer")
	require.Len(t, v.Queue, 2, "what the replica knows is shown all the same")
}

func TestFind(t *testing.T) {
	s := newSite(t, 1, dashboard.Options{})
	for i := range 3 {
		var keys []string
		for j := range 60 {
			keys = append(keys, strings.Repeat("x", i)+"/"+hex.EncodeToString([]byte{byte(j)}))
		}
		s.hold(1, nil, keys...)
	}
	find := func(prefix string) (h dashboard.Hits) {
		_, _, body := get(t, s.url+"json/find?prefix="+url.QueryEscape(prefix))
		require.NoError(t, json.Unmarshal([]byte(body), &h))
		return h
	}
	require.Len(t, find("xx/").Keys, 60)
	require.Len(t, find("x/0").Keys, 16)
	require.Empty(t, find("y").Keys)
	require.False(t, find("xx/").More)
	h := find("")
	require.Len(t, h.Keys, 100)
	require.True(t, h.More)
	_, _, html := get(t, s.url+"find?prefix=x/00")
	require.Contains(t, html, ">x/00</a>")
}

func TestOddKeysDoNoHarmAndAreFound(t *testing.T) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	s := newSite(t, 1, dashboard.Options{})
	const script = `"></a><script>alert(1)</script><svg onload=alert(1)>`
	odd := []string{string(every), script, "javascript:alert(1)", "\xff", "\u202eright to left", "&lt;", "a b+c%2F"}
	s.hold(1, []coordinator.AcquireOption{coordinator.WithRequestID(script)}, odd...)
	s.line(1, 1, script)
	v := s.awaitView("?sort=key", func(v dashboard.View) bool { return len(v.Leases.Rows) == len(odd) && len(v.Queues) == 1 })
	var keys []string
	for _, row := range v.Leases.Rows {
		key, err := hex.DecodeString(row.KeyHex)
		require.NoError(t, err)
		keys = append(keys, string(key))
		for _, query := range []string{"hex=" + row.KeyHex, "key=" + url.QueryEscape(string(key))} {
			status, _, html := get(t, s.url+"key?"+query)
			require.Equal(t, http.StatusOK, status, "%q", key)
			require.NotContains(t, html, "<script>alert")
			require.NotContains(t, html, "<svg onload")
		}
	}
	require.ElementsMatch(t, odd, keys)
	for _, path := range []string{"", "find?prefix=" + url.QueryEscape(script), "?sort=" + url.QueryEscape(script), "json"} {
		_, _, body := get(t, s.url+path)
		require.NotContains(t, body, "<script>alert")
		require.NotContains(t, body, "<svg onload")
		if path != "json" {
			require.NotContains(t, body, "\u202e", "it would turn the line round")
		}
	}
}

func TestALossIsShown(t *testing.T) {
	s := newSite(t, 1, dashboard.Options{})
	set := s.hold(1, nil, "lost")
	s.Node(1).Clock().Advance(2 * time.Hour)
	<-set.Done()
	require.Error(t, set.Release(patient(t)))
	v := s.awaitView("", func(v dashboard.View) bool { return len(v.Losses) == 1 && v.Losses[0].ReleasedAfter != nil })
	require.Equal(t, "window", v.Losses[0].Reason)
	_, _, html := get(t, s.url)
	require.Contains(t, html, "<b>window</b>: the group did not answer in time")
}

func TestABrokenClusterIsTold(t *testing.T) {
	s := newSite(t, 3, dashboard.Options{})
	s.hold(1, nil, "held")
	s.Isolate(1)
	v := s.awaitView("", func(v dashboard.View) bool {
		return strings.Contains(strings.Join(v.Node.Problems, "; "), "has no leader")
	})
	require.NotEmpty(t, v.Events)
	_, _, html := get(t, s.url)
	require.Contains(t, html, "<strong>Problem:</strong>")
	require.Contains(t, html, "none known")
}

func TestBeforeTheNodeIsOpenAndAfterItIsClosed(t *testing.T) {
	before := serve(t, dashboard.New(dashboard.Options{}))
	for _, path := range []string{"", "key?key=k", "find?prefix=k", "json", "json/find"} {
		status, _, body := get(t, before+path)
		require.Contains(t, []int{http.StatusOK, http.StatusNotFound}, status)
		if !strings.Contains(path, "find") {
			require.Contains(t, body, "not open yet")
		}
	}
	s := newSite(t, 1, dashboard.Options{})
	set, err := s.coordinator(1).AcquireAll(patient(t), []string{"k"})
	require.NoError(t, err)
	defer set.Release(patient(t))
	s.Node(1).Close()
	v := s.awaitView("", func(v dashboard.View) bool { return len(v.Losses) == 1 })
	require.Equal(t, "closed", v.Losses[0].Reason)
	status, _, _ := get(t, s.url+"key?key=k&ask")
	require.Contains(t, []int{http.StatusOK, http.StatusNotFound}, status)
}

func TestThePageIsForReadingByThoseWhoMay(t *testing.T) {
	page := dashboard.New(dashboard.Options{Authorize: func(r *http.Request) error {
		if r.Header.Get("Authorization") != "right" {
			return errors.New("a secret reason")
		}
		return nil
	}})
	address := serve(t, page)
	do := func(method, path, authorization string) *http.Response {
		r, err := http.NewRequest(method, address+path, nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", authorization)
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		t.Cleanup(func() { answer.Body.Close() })
		return answer
	}
	for _, path := range []string{"", "json", "key?key=k", "json/key?key=k", "find", "style.css", "live.js", "other"} {
		answer := do(http.MethodGet, path, "wrong")
		require.Equal(t, http.StatusForbidden, answer.StatusCode, path)
		body, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.NotContains(t, string(body), "secret")
		for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodOptions} {
			answer := do(method, path, "right")
			require.Equal(t, http.StatusMethodNotAllowed, answer.StatusCode, path)
			require.Equal(t, "GET, HEAD", answer.Header.Get("Allow"))
		}
		answer = do(http.MethodHead, path, "right")
		require.Equal(t, path == "other", answer.StatusCode == http.StatusNotFound && !strings.Contains(path, "key"), path)
		require.Contains(t, answer.Header.Get("Content-Security-Policy"), "default-src 'none'")
		require.Equal(t, "nosniff", answer.Header.Get("X-Content-Type-Options"))
		require.Equal(t, "no-referrer", answer.Header.Get("Referrer-Policy"))
	}
	first := do(http.MethodGet, "style.css", "right")
	require.Equal(t, "text/css; charset=utf-8", first.Header.Get("Content-Type"))
	require.NotEmpty(t, first.Header.Get("ETag"))
	require.Equal(t, "no-store", do(http.MethodGet, "json", "right").Header.Get("Cache-Control"))
}
