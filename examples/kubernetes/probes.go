package main

import (
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/palisade-go/palisade/coordinator"
)

// The paths of the probes.
const (
	livePath  = "/livez"
	readyPath = "/readyz"
)

// probes answer the kubelet.
type probes struct {
	server *http.Server
	ended  chan error // what Serve returned, once
}

// serveProbes listens on an address and answers /livez and /readyz.
func serveProbes(address string, node *coordinator.Coordinator) (*probes, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle(livePath, node.LiveHandler())
	mux.Handle(readyPath, node.ReadyHandler())
	p := &probes{
		server: &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second},
		ended:  make(chan error, 1),
	}
	go func() { p.ended <- p.server.Serve(listener) }()
	return p, nil
}

// close ends the answers, and returns what ended them before, if anything did.
func (p *probes) close() error {
	err := p.server.Close()
	if ended := <-p.ended; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return err
}
