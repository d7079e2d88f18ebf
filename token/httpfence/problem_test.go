package httpfence

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

// answerOf returns what a client gets of a handler.
func answerOf(h http.Handler) *http.Response {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("POST", "/", nil))
	return w.Result()
}

// pinned are the problems as they go over the wire. Part of the protocol: a
// client of today reads them for ever.
var pinned = []struct {
	name    string
	status  int
	outcome Outcome
	is      []error
	retry   bool
}{
	{"invalid-request", 400, NotApplied, []error{token.ErrInvalid}, false},
	{"missing-token", 428, NotApplied, []error{token.ErrInvalid}, false},
	{"missing-operation", 400, NotApplied, []error{token.ErrInvalid}, false},
	{"stale-token", 412, NotApplied, []error{token.ErrStale}, false},
	{"operation-reused", 422, NotApplied, []error{ErrReused, token.ErrInvalid}, false},
	{"body-too-large", 413, NotApplied, []error{token.ErrInvalid}, false},
	{"body-too-slow", 408, NotApplied, []error{ErrUnavailable}, false},
	{"busy", 503, NotApplied, []error{ErrUnavailable}, true},
	{"store-unavailable", 503, NotApplied, []error{ErrUnavailable}, true},
	{"upstream-unreachable", 502, NotApplied, []error{ErrUnavailable}, true},
	{"outcome-unknown", 409, Unknown, []error{token.ErrUnknown}, false},
	{"answer-not-kept", 409, Applied, []error{ErrNotKept}, false},
}

func TestEveryProblemIsReadAsItWasWritten(t *testing.T) {
	require.Len(t, pinned, len(kinds))
	sentinels := []error{
		token.ErrInvalid, token.ErrStale, token.ErrUnknown, token.ErrExhausted, ErrUnavailable, ErrReused, ErrNotKept, ErrNoGuard,
	}
	page, err := os.ReadFile("../../docs/fencing/http.md")
	require.NoError(t, err)
	for i, want := range pinned {
		t.Run(want.name, func(t *testing.T) {
			sent := kinds[i].problem("because of %d", 7)
			if want.name == "stale-token" {
				sent = staleProblem(&token.StaleError{Resource: "r", Given: 33, Highest: 1<<62 + 1})
			}
			sent.Resource, sent.Original = "r", 201
			resp := answerOf(sent)
			require.Equal(t, want.status, resp.StatusCode)
			require.Equal(t, "application/problem+json", resp.Header.Get("Content-Type"))
			require.Equal(t, want.retry, resp.Header.Get("Retry-After") == "1")

			var got *Problem
			require.ErrorAs(t, Error(resp), &got)
			require.Equal(t, sent, got)
			require.Equal(t, "https://github.com/palisade-go/palisade/blob/main/docs/fencing/http.md#"+want.name, got.Type)
			require.Equal(t, want.outcome, got.Outcome)
			for _, sentinel := range sentinels {
				wanted := false
				for _, is := range want.is {
					wanted = wanted || errors.Is(is, sentinel)
				}
				require.Equal(t, wanted, errors.Is(got, sentinel), "%v", sentinel)
			}
			require.Contains(t, got.Error(), got.Detail)
			require.Contains(t, string(page), "\n#### "+want.name+"\n", "the page that the type leads to describes it")
		})
	}
}

func TestStaleProblemHasTheTokensAsStrings(t *testing.T) {
	p := staleProblem(&token.StaleError{Resource: "r", Given: 33, Highest: 1<<62 + 1})
	var fields map[string]any
	require.NoError(t, json.NewDecoder(answerOf(p).Body).Decode(&fields))
	require.Equal(t, map[string]any{
		"type": ProblemBase + "stale-token", "title": "A later owner has been here", "status": 412.0, "outcome": "not applied",
		"detail":   `token: stale: resource "r" refuses token 33, it has accepted 4611686018427387905`,
		"resource": "r", "given": "33", "highest": "4611686018427387905",
	}, fields)
}

// bodyOf is a body that knows whether it was closed.
type bodyOf struct {
	io.Reader
	closed bool
}

func (b *bodyOf) Close() error {
	b.closed = true
	return nil
}

func response(status int, media, text string) (*http.Response, *bodyOf) {
	body := &bodyOf{Reader: strings.NewReader(text)}
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {media}}, Body: body}, body
}

func TestErrorLeavesOtherAnswersAsTheyAre(t *testing.T) {
	foreign := `{"type":"https://example.org/problems/out-of-credit","title":"You do not have enough credit."}`
	for _, row := range []struct {
		name        string
		status      int
		media, text string
	}{
		{"Success", 200, "text/plain", "text"},
		{"AFailure", 500, "text/plain", "text"},
		{"NoMediaType", 500, "", "text"},
		{"AProblemOfSomebodyElse", 403, "application/problem+json; charset=utf-8", foreign},
		{"AProblemWithoutAType", 403, "application/problem+json", `{}`},
		{"AProblemDocumentThatIsAnAnswer", 200, "application/problem+json", `{"type":"` + ProblemBase + `stale-token"}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			resp, body := response(row.status, row.media, row.text)
			require.NoError(t, Error(resp))
			require.False(t, body.closed)
			read, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.Equal(t, row.text, string(read), "its body is still to be read")
			require.NoError(t, resp.Body.Close())
			require.True(t, body.closed)
		})
	}
}

func TestProblemThatIsNotWhatAGuardWritesIsUnknown(t *testing.T) {
	document := func(rest string) string { return `{"type":"` + ProblemBase + rest }
	for name, text := range map[string]string{
		"NoJSON":              "<html>",
		"CutOff":              document(`stale-token","given":"3`),
		"AnUnknownType":       document(`never-heard-of"}`),
		"StaleWithoutTokens":  document(`stale-token"}`),
		"StaleWithTooHigh":    document(`stale-token","given":"9","highest":"8"}`),
		"StaleWithATokenOf64": document(`stale-token","given":"9","highest":"18446744073709551615"}`),
		"TooLong":             document(`busy","detail":"`) + strings.Repeat("x", 64<<10) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			resp, body := response(412, "application/problem+json", text)
			err := Error(resp)
			require.ErrorIs(t, err, token.ErrUnknown)
			require.NotErrorIs(t, err, token.ErrStale)
			require.True(t, body.closed)
		})
	}
	resp, body := response(412, "application/problem+json", "")
	body.Reader = io.MultiReader(strings.NewReader(document(`busy"`)), badReader{})
	require.ErrorIs(t, Error(resp), io.ErrUnexpectedEOF)
}

type badReader struct{}

func (badReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestOutcomeOfALaterVersionIsUnknown(t *testing.T) {
	for _, o := range []Outcome{Unknown, NotApplied, Applied} {
		text, err := o.MarshalText()
		require.NoError(t, err)
		var read Outcome = 77
		require.NoError(t, read.UnmarshalText(text))
		require.Equal(t, o, read)
	}
	read := Applied
	require.NoError(t, read.UnmarshalText([]byte("half applied")))
	require.Equal(t, Unknown, read)
	require.Equal(t, Unknown, Outcome(0), "the zero value promises nothing")
	require.Equal(t, "Outcome(9)", Outcome(9).String())
}

func TestReceiptOfSaysWhetherAGuardHasAnswered(t *testing.T) {
	resp, _ := response(200, "", "")
	_, err := ReceiptOf(resp)
	require.ErrorIs(t, err, ErrNoGuard)
	resp.Header.Set(TokenHeader, "x")
	_, err = ReceiptOf(resp)
	require.ErrorIs(t, err, ErrNoGuard)
	resp.Header.Set(TokenHeader, "7")
	receipt, err := ReceiptOf(resp)
	require.NoError(t, err)
	require.Equal(t, token.Receipt{Token: 7}, receipt)
	resp.Header.Set(ReplayedHeader, "true")
	receipt, err = ReceiptOf(resp)
	require.NoError(t, err)
	require.Equal(t, token.Receipt{Token: 7, Repeated: true}, receipt)
}

// FuzzProblem: whatever the document, it is one of ours that means what its
// type says, somebody else's, or an error.
func FuzzProblem(f *testing.F) {
	for _, k := range kinds {
		f.Add([]byte(`{"type":"` + ProblemBase + k.name + `","status":1,"given":"1","highest":"2","outcome":"applied"}`))
	}
	f.Add([]byte(`{"type":"about:blank"}`))
	f.Add([]byte(`{"type":7}`))
	f.Fuzz(func(t *testing.T, document []byte) {
		p, foreign, err := decodeProblem(document)
		if err != nil || foreign {
			require.Nil(t, p)
			return
		}
		require.Equal(t, ProblemBase+p.kind.name, p.Type)
		require.NotNil(t, p.Unwrap())
		var stale *token.StaleError
		if errors.As(p, &stale) {
			require.True(t, stale.Given.Valid() && stale.Highest.Valid())
		}
		_ = p.Error()
	})
}
