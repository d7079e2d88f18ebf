package httpfence

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/palisade-go/palisade/token"
)

// ByPath returns a Config.Resource that names a resource by the path segment
// after a prefix, which begins and ends with a slash. With "/documents/" the
// paths /documents/7, /documents/7/ and /documents/7/title name the resource
// "/documents/7", the paths /documents/ and /accounts/7 none, which is an error
// of the request.
//
// It refuses every path that another server may read as another one: with empty
// segments, "." or "..", with an encoded slash or percent, with a backslash, a
// semicolon or a control character, or not UTF-8. Otherwise two names could
// stand for one resource, each with a fence of its own, and the guard would let
// a stale writer through by the second.
//
// Names are compared byte by byte. A service that takes /documents/A and
// /documents/a, or two Unicode forms of a letter, for one document needs a
// function that makes one name of them; one that tells documents apart by host
// or query needs those in the name.
func ByPath(prefix string) (func(*http.Request) (string, error), error) {
	if len(prefix) == 0 || prefix[0] != '/' || prefix[len(prefix)-1] != '/' {
		return nil, fmt.Errorf("%w: prefix %q does not begin and end with a slash", token.ErrInvalid, prefix)
	}
	if err := checkPath(prefix); err != nil {
		return nil, fmt.Errorf("%w: prefix %q %w", token.ErrInvalid, prefix, err)
	}
	return func(r *http.Request) (string, error) {
		escaped := strings.ToLower(r.URL.EscapedPath())
		if strings.Contains(escaped, "%2f") {
			return "", fmt.Errorf("%w: path %.64q has an encoded slash", token.ErrInvalid, escaped)
		}
		path := r.URL.Path
		if err := checkPath(path); err != nil {
			return "", fmt.Errorf("%w: path %.64q %w", token.ErrInvalid, path, err)
		}
		rest, under := strings.CutPrefix(path, prefix)
		segment, _, _ := strings.Cut(rest, "/")
		if !under || segment == "" {
			return "", fmt.Errorf("%w: path %.64q is not one of a resource under %s", token.ErrInvalid, path, prefix)
		}
		return prefix + segment, nil
	}, nil
}

// checkPath refuses what servers read in different ways.
func checkPath(path string) error {
	segments := strings.Split(path, "/")
	if segments[0] != "" {
		return errors.New("does not begin with a slash")
	}
	for i, segment := range segments[1:] {
		last := i == len(segments)-2
		switch {
		case segment == "" && !last:
			return errors.New("has an empty segment")
		case segment == "." || segment == "..":
			return fmt.Errorf("has a segment %q", segment)
		}
	}
	if !utf8.ValidString(path) {
		return errors.New("is not UTF-8")
	}
	if i := strings.IndexFunc(path, ambiguous); i >= 0 {
		return fmt.Errorf("has the byte 0x%02x", path[i])
	}
	return nil
}

// ambiguous says that a character in a path means something to some servers:
// Windows takes a backslash for a slash, Java cuts a segment at a semicolon,
// and a percent can be decoded twice.
func ambiguous(r rune) bool { return strings.ContainsRune(`\;%`, r) || unicode.IsControl(r) }
