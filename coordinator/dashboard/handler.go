package dashboard

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

//go:embed page.html style.css live.js
var files embed.FS

// assets are the files that a page refers to, by path.
var assets = map[string]string{"/style.css": "text/css; charset=utf-8", "/live.js": "text/javascript; charset=utf-8"}

// policy lets a page load and send nothing but to and from where it came from, and
// run no script but live.js.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'"

// ServeHTTP implements http.Handler. Paths are those that are left when the prefix
// is stripped at which it is mounted.
func (d *Dashboard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	if d.options.Authorize != nil && d.options.Authorize(r) != nil {
		http.Error(w, "not allowed", http.StatusForbidden)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "this page is for reading", http.StatusMethodNotAllowed)
		return
	}
	path := "/" + strings.TrimPrefix(r.URL.Path, "/")
	if kind, ok := assets[path]; ok {
		serveFile(w, r, path[1:], kind)
		return
	}
	h.Set("Cache-Control", "no-store")
	query := r.URL.Query()
	switch path {
	case "/":
		d.servePage(w, query)
	case "/key", "/json/key":
		d.serveKey(w, r, query, path == "/json/key")
	case "/find", "/json/find":
		d.serveHits(w, query, path == "/json/find")
	case "/json":
		writeJSON(w, http.StatusOK, d.view(time.Now(), choiceOf(query)))
	default:
		http.NotFound(w, r)
	}
}

func (d *Dashboard) servePage(w http.ResponseWriter, query url.Values) {
	render(w, http.StatusOK, "main", mainPage{View: d.view(time.Now(), choiceOf(query))})
}

func (d *Dashboard) serveKey(w http.ResponseWriter, r *http.Request, query url.Values, asJSON bool) {
	key, err := keyOf(query)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	v := d.keyView(r.Context(), time.Now(), key, number(query, "page"), query.Has("ask"))
	status := http.StatusOK
	if !v.Taken {
		status = http.StatusNotFound
	}
	if asJSON {
		writeJSON(w, status, v)
		return
	}
	render(w, status, "key", v)
}

func (d *Dashboard) serveHits(w http.ResponseWriter, query url.Values, asJSON bool) {
	h := Hits{Prefix: query.Get("prefix"), Keys: []Key{}}
	if watched := d.watched.Load(); watched != nil {
		h = d.hits(time.Now(), watched.node, h.Prefix)
	}
	if asJSON {
		writeJSON(w, http.StatusOK, h)
		return
	}
	render(w, http.StatusOK, "find", h)
}

// keyOf returns the key that is asked for, by its text or by its bytes.
func keyOf(query url.Values) (string, error) {
	if query.Has("hex") {
		key, err := hex.DecodeString(query.Get("hex"))
		if err != nil {
			return "", errors.New("hex: not hexadecimal")
		}
		return string(key), nil
	}
	return query.Get("key"), nil
}

// choiceOf reads what of the lists is asked for. What makes no sense means the
// default.
func choiceOf(query url.Values) choice {
	c := choice{sort: orders[0].name, page: number(query, "page")}
	for _, o := range orders {
		if o.name == query.Get("sort") {
			c.sort = o.name
		}
	}
	return c
}

// number returns a parameter from 1 to 100,000, otherwise 1.
func number(query url.Values, name string) int {
	n, err := strconv.Atoi(query.Get(name))
	if err != nil || n < 1 || n > 100_000 {
		return 1
	}
	return n
}

// serveFile serves what never changes while the program runs.
func serveFile(w http.ResponseWriter, r *http.Request, name, kind string) {
	data, err := files.ReadFile(name)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	sum := sha256.Sum256(data)
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:8])+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(v); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = b.WriteTo(w) // whoever asked may have gone
}
