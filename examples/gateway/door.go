package main

import (
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/palisade-go/palisade/token/httpfence"
	"github.com/palisade-go/palisade/token/httpfence/diskstore"
)

// opener makes what stands before the service at target, with its memory in
// dir, and what ends it.
type opener func(target *url.URL, dir string) (http.Handler, io.Closer, error)

// openGateway is the whole of a gateway: fences on disk, a guard, a proxy.
func openGateway(target *url.URL, dir string) (http.Handler, io.Closer, error) {
	store, err := diskstore.Open(dir, diskstore.Config{})
	if err != nil {
		return nil, nil, err
	}
	gateway, err := newGateway(target, store)
	if err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	return gateway, closers{gateway, store}, nil
}

func newGateway(target *url.URL, store httpfence.Store) (*httpfence.Gateway, error) {
	resource, err := httpfence.ByPath("/documents/")
	if err != nil {
		return nil, err
	}
	guard, err := httpfence.New(store, httpfence.Config{Resource: resource})
	if err != nil {
		return nil, err
	}
	return httpfence.NewGateway(guard, httpfence.GatewayConfig{Target: target})
}

// closers are closed in their order.
type closers []io.Closer

// Close implements io.Closer.
func (c closers) Close() error {
	var problems []error
	for _, one := range c {
		problems = append(problems, one.Close())
	}
	return errors.Join(problems...)
}

// door is a running gateway.
type door struct {
	*server
	inside io.Closer
}

// openDoor starts the gateway, from its directory.
func (s *story) openDoor() error {
	target, err := url.Parse(s.service.url)
	if err != nil {
		return err
	}
	handler, inside, err := s.open(target, s.fences)
	if err != nil {
		return err
	}
	server, err := listen(handler)
	if err != nil {
		return errors.Join(err, inside.Close())
	}
	s.door = &door{server, inside}
	return nil
}

// closeDoor stops the gateway, if it runs.
func (s *story) closeDoor() error {
	if s.door == nil {
		return nil
	}
	closing := s.door
	s.door = nil
	return errors.Join(closing.stop(), closing.inside.Close())
}
