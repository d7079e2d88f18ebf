package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// heldUp is a network that keeps a request on its way. Its sender can no longer
// call it back: that its context has ended changes nothing.
type heldUp struct {
	base   http.RoundTripper
	onWay  chan struct{} // gets one element for each request that is held up
	arrive chan struct{} // closed by the story: the requests go on
}

func newHeldUp(base http.RoundTripper) *heldUp {
	return &heldUp{base: base, onWay: make(chan struct{}, 1), arrive: make(chan struct{})}
}

// RoundTrip implements http.RoundTripper.
func (n *heldUp) RoundTrip(req *http.Request) (*http.Response, error) {
	n.onWay <- struct{}{}
	<-n.arrive
	return n.base.RoundTrip(req.WithContext(context.WithoutCancel(req.Context())))
}

// errLost is what a sender sees of an answer that was lost.
var errLost = errors.New("the connection broke before the answer came")

// losing is a network that loses an answer: the request arrives.
type losing struct{ base http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (n losing) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := n.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if err := resp.Body.Close(); err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the answer that was to be lost has status %d", resp.StatusCode)
	}
	return nil, errLost
}
