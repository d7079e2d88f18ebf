package httpfence_test

import (
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/httpfence"
)

func TestByPathNamesTheSegmentAfterThePrefix(t *testing.T) {
	for _, row := range []struct{ prefix, path, want string }{
		{"/documents/", "/documents/7", "/documents/7"},
		{"/documents/", "/documents/7/", "/documents/7"},
		{"/documents/", "/documents/7/title?x=/../8", "/documents/7"},
		{"/documents/", "/documents/%37", "/documents/7"},
		{"/documents/", "/documents/a%20b", "/documents/a b"},
		{"/documents/", "/documents/%c3%bc", "/documents/ü"},
		{"/documents/", "/documents/A", "/documents/A"}, // and /documents/a is another
		{"/documents/", "/documents/a", "/documents/a"},
		{"/documents/", "/documents/7.", "/documents/7."},
		{"/documents/", "/documents/...", "/documents/..."},
		{"/a/b/", "/a/b/c/d", "/a/b/c"},
		{"/", "/documents/7", "/documents"},
	} {
		t.Run(row.prefix+" of "+row.path, func(t *testing.T) {
			resource, err := httpfence.ByPath(row.prefix)
			require.NoError(t, err)
			got, err := resource(httptest.NewRequest("POST", row.path, nil))
			require.NoError(t, err)
			require.Equal(t, row.want, got)
		})
	}
}

func TestByPathRefusesWhatCanBeReadAsAnother(t *testing.T) {
	resource, err := httpfence.ByPath("/documents/")
	require.NoError(t, err)
	for _, path := range []string{
		"/documents/", "/documents", "/", "/accounts/7", "/documentsx/7", "/Documents/7",
		"//documents/7", "/documents//7", "/documents/7//title", "/documents/7//",
		"/./documents/7", "/documents/./7", "/documents/../documents/7", "/documents/8/../7",
		"/documents/..", "/documents/7/.", "/documents/7/..",
		"/documents/%2e%2e/7", "/documents/%2e/7", "/documents%2f7", "/documents/8%2f..%2f7", "/documents/8%2F..%2F7",
		"/documents/7%5ctitle", `/documents/7\title`, "/documents/7;v=1", "/documents/7%3bv=1",
		"/documents/%2537", "/documents/7%00", "/documents/7%0a",
		"/documents/%ff", "/documents/7%c2%85",
	} {
		t.Run(path, func(t *testing.T) {
			r := httptest.NewRequest("POST", "/", nil)
			r.URL, err = url.ParseRequestURI(path)
			require.NoError(t, err)
			name, err := resource(r)
			require.ErrorIs(t, err, token.ErrInvalid, "%s", name)
		})
	}
	for _, prefix := range []string{"", "documents/", "/documents", "/a//b/", "/../", "/a;b/", "/%2f/", "//", "/a//"} {
		_, err := httpfence.ByPath(prefix)
		require.ErrorIs(t, err, token.ErrInvalid, "prefix %q", prefix)
	}
}

// FuzzByPath: a path that names a resource has one reading. Whatever a server
// does that cleans paths, or decodes them once more, it comes to the same.
func FuzzByPath(f *testing.F) {
	for _, seed := range []string{
		"/documents/7", "/documents/8/../7", "/documents/%2e%2e/7", "/documents/7%2f", "/documents//7", "/documents/%2537",
	} {
		f.Add(seed)
	}
	resource, err := httpfence.ByPath("/documents/")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, path string) {
		parsed, err := url.ParseRequestURI(path)
		if err != nil {
			return
		}
		r := httptest.NewRequest("POST", "/", nil)
		r.URL = parsed
		name, err := resource(r)
		if err != nil {
			require.ErrorIs(t, err, token.ErrInvalid)
			return
		}
		cleaned := parsed.JoinPath() // cleans
		again, err := url.PathUnescape(cleaned.Path)
		require.NoError(t, err)
		r.URL = &url.URL{Path: again}
		other, err := resource(r)
		require.NoError(t, err)
		require.Equal(t, name, other)
	})
}
