package transport

import (
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"
)

// fileSettles is how old the last change of a file must be for its time and
// size to tell one content from another: file systems keep times in steps.
const fileSettles = 2 * time.Second

// credentialsSource reads the files of a TLS and reads them again when they
// change. Files that are wrong, as half a change is, leave what was read
// before. Its methods are safe for concurrent use; each call costs three
// stats.
type credentialsSource struct {
	files  TLS
	self   string // URI of the own node
	logger *slog.Logger

	mu      sync.Mutex
	current *credentials // never nil after newCredentialsSource
	read    []fs.FileInfo
	settled bool   // the files of read can't have changed unseen
	problem string // what was wrong with the files as last read, "" when nothing was
}

// newCredentialsSource reads the files for the first time and fails if they
// are wrong.
func newCredentialsSource(files TLS, self string, logger *slog.Logger) (*credentialsSource, error) {
	s := &credentialsSource{files: files, self: self, logger: logger}
	seen, err := s.stat()
	if err != nil {
		return nil, err
	}
	if s.current, err = s.files.load(s.self); err != nil {
		return nil, err
	}
	s.seenLocked(seen)
	s.warnOfExpiryLocked()
	return s, nil
}

// get returns what the files say now, or said when they were last right.
func (s *credentialsSource) get() *credentials {
	s.mu.Lock()
	defer s.mu.Unlock()
	// The stat comes before the read: a change in between is seen next time.
	seen, err := s.stat()
	if err == nil && s.settled && sameFiles(s.read, seen) {
		return s.current
	}
	var next *credentials
	if err == nil {
		next, err = s.files.load(s.self)
		s.seenLocked(seen)
	}
	if err != nil {
		if text := err.Error(); text != s.problem {
			s.problem = text
			s.logger.Warn("transport: the certificate files have changed and are wrong; the old ones stay in use", "err", err)
		}
		return s.current
	}
	s.problem = ""
	if changed := !next.equal(s.current); changed {
		s.current = next
		s.logger.Info("transport: the certificate files were read again", "expires", next.pair.Leaf.NotAfter)
		s.warnOfExpiryLocked()
	}
	return s.current
}

// seenLocked notes which files were read.
func (s *credentialsSource) seenLocked(seen []fs.FileInfo) {
	s.read, s.settled = seen, true
	for _, file := range seen {
		if time.Since(file.ModTime()) < fileSettles {
			s.settled = false
		}
	}
}

// warnOfExpiryLocked tells of a certificate that others will refuse. It is
// used all the same: whose clock is right is not known here.
func (s *credentialsSource) warnOfExpiryLocked() {
	if leaf := s.current.pair.Leaf; s.current.expired(time.Now()) {
		s.logger.Warn("transport: the certificate of this node is out of its time; other nodes will refuse it",
			"file", s.files.CertFile, "notBefore", leaf.NotBefore, "notAfter", leaf.NotAfter)
	}
}

func (t TLS) paths() []string { return []string{t.CAFile, t.CertFile, t.KeyFile} }

func (s *credentialsSource) stat() ([]fs.FileInfo, error) {
	var seen []fs.FileInfo
	for _, path := range s.files.paths() {
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("transport: TLS: %w", err)
		}
		seen = append(seen, info)
	}
	return seen, nil
}

// load reads the files of a node that self is the URI of.
func (t TLS) load(self string) (*credentials, error) {
	var texts [][]byte
	for _, path := range t.paths() {
		text, err := readLimited(path)
		if err != nil {
			return nil, fmt.Errorf("transport: TLS: %w", err)
		}
		texts = append(texts, text)
	}
	loaded, err := parseCredentials(texts[0], texts[1], texts[2], self)
	if err != nil {
		return nil, fmt.Errorf("transport: TLS: %w", err)
	}
	return loaded, nil
}

// credentialsBytesMax is how long a file of a TLS may be.
const credentialsBytesMax = 1 << 20

// readLimited reads a file whose length nobody has checked.
func readLimited(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, credentialsBytesMax+1))
	if err == nil && len(text) > credentialsBytesMax {
		err = fmt.Errorf("%s is longer than %d bytes", path, credentialsBytesMax)
	}
	return text, err
}

// sameFiles says whether two looks at the files saw the same contents, as far
// as a look can tell.
func sameFiles(a, b []fs.FileInfo) bool {
	for i := range a {
		if !os.SameFile(a[i], b[i]) || a[i].Size() != b[i].Size() || !a[i].ModTime().Equal(b[i].ModTime()) {
			return false
		}
	}
	return true
}
