package objectfence

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/palisade-go/palisade/token"
)

// HTTPStore is a Store behind HTTP conditional requests: GET, and PUT with
// If-Match or If-None-Match. Not every server looks at those; Probe tells.
type HTTPStore struct {
	client *http.Client
	base   *url.URL
}

// NewHTTPStore returns a store whose objects have the URL base, a slash and
// their name. The client adds what the server wants for authorization, in its
// Transport, and may have a time limit; the one that is given is not changed.
// base is an absolute URL of http or https, without query and fragment.
// Otherwise, and without a client, the error is token.ErrInvalid.
func NewHTTPStore(client *http.Client, base string) (*HTTPStore, error) {
	if client == nil {
		return nil, fmt.Errorf("%w: no client", token.ErrInvalid)
	}
	parsed, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", token.ErrInvalid, err)
	}
	known := parsed.Scheme == "http" || parsed.Scheme == "https"
	if !known || parsed.Host == "" || parsed.RawQuery != "" || parsed.Fragment != "" {
		return nil, fmt.Errorf("%w: %s is not a URL of http or https alone", token.ErrInvalid, parsed.Redacted())
	}
	own := *client
	// A client that follows a redirect makes a GET of some PUTs, and takes its
	// answer for that of the PUT.
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &HTTPStore{client: &own, base: parsed}, nil
}

// StatusError says that a server answered with a status that is none of those
// expected.
type StatusError struct {
	Method string
	Name   Name
	Status int
}

// Error names the request and the status.
func (e *StatusError) Error() string {
	return fmt.Sprintf("objectfence: %s %s: status %d %s", e.Method, e.Name, e.Status, http.StatusText(e.Status))
}

// Unwrap lets errors.Is find ErrRefused for a status that says that the server
// did nothing: 4xx, but for a request that it did not get whole in time, of which
// a proxy may say so too.
func (e *StatusError) Unwrap() error {
	if e.Status >= 400 && e.Status < 500 && e.Status != http.StatusRequestTimeout {
		return ErrRefused
	}
	return nil
}

// Get implements Store. It costs one request. Errors besides those of Store:
// ErrETag; *StatusError; the client's.
func (s *HTTPStore) Get(ctx context.Context, name Name) (Object, error) {
	response, err := s.do(ctx, http.MethodGet, name, nil, nil)
	if err != nil {
		return Object{}, err
	}
	defer response.Body.Close() // it was only read
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		drain(response.Body)
		return Object{}, fmt.Errorf("%w: %s", ErrNotFound, name)
	default:
		drain(response.Body)
		return Object{}, &StatusError{Method: http.MethodGet, Name: name, Status: response.StatusCode}
	}
	etag, err := etagOf(response)
	if err != nil {
		return Object{}, fmt.Errorf("GET %s: %w", name, err)
	}
	if response.ContentLength < 0 && len(response.TransferEncoding) == 0 && response.ProtoMajor < 2 {
		// The end of the connection would be the end of the body, also where it
		// was cut.
		return Object{}, fmt.Errorf("objectfence: GET %s: the answer does not say how long it is", name)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, ObjectBytesMax+1))
	if err != nil {
		return Object{}, fmt.Errorf("objectfence: GET %s: %w", name, err)
	}
	if len(body) > ObjectBytesMax {
		return Object{}, fmt.Errorf("%w: GET %s: more than %d bytes", ErrTooLarge, name, ObjectBytesMax)
	}
	return Object{Body: body, ETag: etag}, nil
}

// PutIf implements Store. It costs one request, which is not repeated by
// itself. Errors besides those of Store: *StatusError; the client's.
func (s *HTTPStore) PutIf(ctx context.Context, name Name, body []byte, match ETag) (ETag, error) {
	if len(body) > ObjectBytesMax {
		return Absent, fmt.Errorf("%w: %d bytes, at most %d are allowed", ErrTooLarge, len(body), ObjectBytesMax)
	}
	condition := http.Header{}
	if match == Absent {
		condition.Set("If-None-Match", "*")
	} else {
		if err := checkETag(match); err != nil {
			return Absent, fmt.Errorf("%w: %w", token.ErrInvalid, err)
		}
		condition.Set("If-Match", string(match))
	}
	response, err := s.do(ctx, http.MethodPut, name, body, condition)
	if err != nil {
		return Absent, err
	}
	defer response.Body.Close()
	drain(response.Body)
	switch response.StatusCode {
	case http.StatusOK, http.StatusCreated, http.StatusNoContent:
		etag, err := etagOf(response)
		if err != nil {
			return Absent, nil // the PUT succeeded; only its ETag was not said
		}
		return etag, nil
	case http.StatusPreconditionFailed, http.StatusConflict:
		return Absent, fmt.Errorf("%w: %s", ErrChanged, name)
	case http.StatusNotFound:
		if match != Absent { // some servers say so of an object that is gone
			return Absent, fmt.Errorf("%w: %s is gone", ErrChanged, name)
		}
	}
	return Absent, &StatusError{Method: http.MethodPut, Name: name, Status: response.StatusCode}
}

func (s *HTTPStore) do(
	ctx context.Context, method string, name Name, body []byte, header http.Header,
) (*http.Response, error) {
	if err := name.Check(); err != nil {
		return nil, err
	}
	var reader io.Reader
	if method == http.MethodPut {
		reader = bytes.NewReader(body)
	}
	request, err := http.NewRequestWithContext(ctx, method, s.base.JoinPath(string(name)).String(), reader)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", token.ErrInvalid, err)
	}
	if header != nil {
		request.Header = header
	}
	// Of a body that is packed on its way, other ETags are sent.
	request.Header.Set("Accept-Encoding", "identity")
	request.Header.Set("Cache-Control", "no-cache") // a stale pointer is no answer
	response, err := s.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("objectfence: %w", err)
	}
	return response, nil
}

// etagOf returns the one strong ETag of an answer.
func etagOf(response *http.Response) (ETag, error) {
	values := response.Header.Values("Etag")
	if len(values) > 1 {
		return Absent, fmt.Errorf("%w: there are %d", ErrETag, len(values))
	}
	etag := ETag(response.Header.Get("Etag"))
	return etag, checkETag(etag)
}

// drain reads what an answer says besides, so that the connection can be used
// again.
func drain(body io.Reader) {
	const bytesMax = 64 << 10
	_, _ = io.CopyN(io.Discard, body, bytesMax) // the status has said what there is to know
}
