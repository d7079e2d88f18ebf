package dashboard_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/dashboard"
)

// fill has the first node hold so many keys, 50 in each request.
func (s *site) fill(keys int) {
	s.Helper()
	const together = 50
	var filling sync.WaitGroup
	const fillers = 64
	for f := range fillers {
		filling.Add(1)
		go func() {
			defer filling.Done()
			for i := f * together; i < keys; i += fillers * together {
				batch := make([]string, together)
				for j := range batch {
					batch[j] = fmt.Sprintf("order/%012d/%s", i+j, strings.Repeat("x", 40))
				}
				set, err := s.coordinator(1).AcquireAll(patient(s), batch)
				if err != nil {
					s.Error(err)
					return
				}
				s.Cleanup(func() { _ = set.ReleaseAsync() })
			}
		}()
	}
	filling.Wait()
}

func TestThePageStaysSmall(t *testing.T) {
	leases, waiters := 100_000, 9_999
	if raceEnabled {
		leases, waiters = 10_000, 999
	}
	s := newSite(t, 1, dashboard.Options{})
	s.hold(1, nil, "hot")
	s.fill(leases)
	s.line(1, waiters, "hot")
	v := s.awaitView("", func(v dashboard.View) bool { return len(v.Queues) == 1 && v.Queues[0].Waiters == waiters })
	require.Equal(t, leases+1, v.Totals.Keys)
	require.Equal(t, "hot", v.Leases.Rows[0].Key)
	require.Len(t, v.Leases.Rows, 100)
	require.Len(t, v.Queues[0].Queue, 5)
	require.Equal(t, 1000, v.Leases.Listed)
	require.True(t, v.Leases.More)
	require.Len(t, s.view("?page=10").Leases.Rows, 100)
	require.Equal(t, 10, s.view("?page=99").Leases.Page)
	for _, path := range []string{"", "?sort=age&page=10", "json", "key?key=hot", "key?key=hot&page=50", "key?key=hot&ask", "json/key?key=hot", "find?prefix=order", "json/find?prefix="} {
		_, _, body := get(t, s.url+path)
		require.Less(t, len(body), 200_000, path)
		require.LessOrEqual(t, strings.Count(body, "<tr>"), 201+1+30, path)
	}
	_, _, html := get(t, s.url+"key?key=hot&page=50")
	if !raceEnabled {
		require.Contains(t, html, `<td class="n">9999</td>`, "the last one in line")
	}
}

// A page whose survey is old goes over all keys; the others take what it has found.
func BenchmarkPage(b *testing.B) {
	for _, leases := range []int{100, 100_000} {
		s := newSite(b, 1, dashboard.Options{})
		s.fill(leases)
		request := httptest.NewRequest(http.MethodGet, "/", nil)
		b.Run(fmt.Sprintf("%d leases", leases), func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				s.page.ServeHTTP(httptest.NewRecorder(), request)
			}
		})
		b.Run(fmt.Sprintf("%d leases, with a survey", leases), func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				dashboard.ForgetSurvey(s.page)
				s.page.ServeHTTP(httptest.NewRecorder(), request)
			}
		})
	}
}
