package main

import (
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// documentPath is where the service has its document.
const documentPath = "/documents/report"

// service keeps a document, as many services do: PUT replaces it, POST adds a
// line, GET reads it. It knows nothing of locks and tokens. In production only
// the gateway could reach its port.
type service struct {
	*server

	mu      sync.Mutex
	content string
}

func startService() (*service, error) {
	s := &service{}
	var err error
	s.server, err = listen(s)
	return s, err
}

// ServeHTTP implements http.Handler.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r.Method {
	case http.MethodPut:
		s.content = string(body)
	case http.MethodPost:
		s.content += "\n" + string(body)
	}
	// Whoever sent the request sees it, and nobody else can be hurt by it.
	_, _ = io.WriteString(w, s.content)
}

// text returns the document.
func (s *service) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.content
}

// server is an HTTP server on a free port of the loopback interface.
type server struct {
	url    string
	http   *http.Server
	served chan error // what Serve returned, once
}

func listen(handler http.Handler) (*server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{
		url:    "http://" + listener.Addr().String(),
		http:   &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second},
		served: make(chan error, 1),
	}
	go func() { s.served <- s.http.Serve(listener) }()
	return s, nil
}

// stop ends the server and its connections.
func (s *server) stop() error {
	err := s.http.Close()
	if served := <-s.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	s.served <- http.ErrServerClosed // for a second call
	return err
}
