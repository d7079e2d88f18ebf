package dashboard

import (
	"bytes"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"time"
)

// page is what is read of page.html: the templates main, key and find.
var page = template.Must(template.New("page.html").Funcs(template.FuncMap{
	"text": text, "span": span, "clock": clock, "bytes": byteCount, "graph": newGraph, "sparks": sparks,
	"orders": func() (names []string) {
		for _, o := range orders {
			names = append(names, o.name)
		}
		return names
	},
	"pages": pages, "share": share, "dec": func(i int) int { return i - 1 }, "inc": func(i int) int { return i + 1 },
}).ParseFS(files, "page.html"))

// mainPage is what the template main shows.
type mainPage struct{ View }

// render writes a page, whole or not at all.
func render(w http.ResponseWriter, status int, name string, data any) {
	var b bytes.Buffer
	if err := page.ExecuteTemplate(&b, name, data); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = b.WriteTo(w) // whoever asked may have gone
}

// text shows a key or an id so that every byte of it is seen: as it is, or in the
// quotes of Go if it has something in it that would not be.
func text(s string) string {
	if q := strconv.Quote(s); q[1:len(q)-1] != s {
		return q
	}
	return s
}

// span shows a duration in seconds with two or three digits that count.
func span(s float64) string {
	d := time.Duration(s * float64(time.Second))
	switch {
	case d <= 0:
		return "0"
	case d < time.Millisecond:
		return fmt.Sprintf("%.2f ms", s*1e3)
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", s*1e3)
	case d < time.Second:
		return fmt.Sprintf("%.0f ms", s*1e3)
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", s)
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", s)
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", d/time.Minute, d%time.Minute/time.Second)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %02d min", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%d d %02d h", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
}

func clock(t time.Time) string { return t.Format("15:04:05") }

func byteCount(n uint64) string {
	const unit = 1024
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	f, i := float64(n), 0
	for f >= unit && i < len(units)-1 {
		f, i = f/unit, i+1
	}
	return fmt.Sprintf("%.4g %s", f, units[i])
}

// share says in words how much of a lease's time is left, for who can't see the bar.
func share(left, whole float64) int {
	if whole <= 0 {
		return 0
	}
	return int(min(1, max(0, left/whole)) * 100)
}

// pages are the numbers of pages around one.
func pages(at, all int) (near []int) {
	for i := max(1, at-4); i <= min(all, at+4); i++ {
		near = append(near, i)
	}
	return near
}
