package dashboard_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/dashboard"
)

// browse opens an address in a Chromium without a window, and returns what it
// writes and what its console says. Any other origin than this machine's is
// unknown to it, so that a page that asks for something there says so.
func browse(t *testing.T, flags ...string) (written, console string) {
	t.Helper()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("CI") != "" {
			require.FailNow(t, "chromium is missing", ".ci/run installs it")
		}
		t.Skip("chromium is not installed (Debian: apt-get install chromium)")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, chromium, append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr", "--user-data-dir=" + t.TempDir(),
		"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--no-first-run", "--disable-background-networking",
	}, flags...)...)
	var out, log bytes.Buffer
	command.Stdout, command.Stderr = &out, &log
	require.NoError(t, command.Run(), log.String())
	for _, line := range strings.Split(log.String(), "\n") {
		if strings.Contains(line, "CONSOLE") {
			console += line + "\n"
		}
	}
	return out.String(), console
}

// laterSite is a page that knows of another lease when it is asked for the second
// time, which only its script does. Its answers have one more policy.
func laterSite(t *testing.T, policy string) (address string, asked *atomic.Int64) {
	s := newSite(t, 1, dashboard.Options{})
	s.hold(1, nil, "there-from-the-start")
	asked = new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" && asked.Add(1) == 2 {
			s.hold(1, nil, "came-later")
			dashboard.ForgetSurvey(s.page)
		}
		answer := httptest.NewRecorder()
		s.page.ServeHTTP(answer, r)
		maps.Copy(w.Header(), answer.Header())
		w.Header().Add("Content-Security-Policy", policy)
		w.WriteHeader(answer.Code)
		_, _ = answer.Body.WriteTo(w)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/", asked
}

func TestChromiumShowsWhatComesLater(t *testing.T) {
	address, asked := laterSite(t, "")
	dom, console := browse(t, "--virtual-time-budget=9000", "--dump-dom", address)
	require.Empty(t, console)
	require.Contains(t, dom, "there-from-the-start")
	require.Contains(t, dom, "came-later")
	require.Greater(t, asked.Load(), int64(1))
	require.NotContains(t, dom, `id="pause" type="button" hidden`)
}

func TestChromiumShowsThePageWithoutJavaScript(t *testing.T) {
	address, asked := laterSite(t, "sandbox") // which allows no script
	picture, console := shoot(t, "--virtual-time-budget=9000", "--window-size=1000,800", address)
	require.Contains(t, console, "Blocked script execution")
	require.EqualValues(t, 1, asked.Load())
	shades := map[uint8]bool{}
	for x := range 1000 {
		for y := range 800 {
			shades[grey(picture, x, y)] = true
		}
	}
	require.Greater(t, len(shades), 50, "there is text")
}

// shoot returns what a page looks like. The address is the last of the flags.
func shoot(t *testing.T, flags ...string) (picture image.Image, console string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.png")
	_, console = browse(t, append([]string{"--screenshot=" + file}, flags...)...)
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	picture, err = png.Decode(bytes.NewReader(data))
	require.NoError(t, err)
	return picture, console
}

func grey(picture image.Image, x, y int) uint8 {
	return color.GrayModel.Convert(picture.At(x, y)).(color.Gray).Y
}

func TestChromiumShowsLightAndDark(t *testing.T) {
	s := newSite(t, 1, dashboard.Options{})
	s.hold(1, nil, "<script>alert(1)</script>")
	ground := func(scheme int) uint8 {
		picture, console := shoot(t, fmt.Sprintf("--blink-settings=preferredColorScheme=%d", scheme), "--window-size=400,800", s.url)
		require.Empty(t, console)
		require.Equal(t, 400, picture.Bounds().Dx())
		return grey(picture, 3, 3)
	}
	require.Greater(t, ground(1), uint8(220), "light")
	require.Less(t, ground(0), uint8(60), "dark")
}
