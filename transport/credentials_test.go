package transport_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
	"github.com/palisade-go/palisade/transport/transporttest"
)

const (
	brokenMessage  = "transport: the certificate files have changed and are wrong; the old ones stay in use"
	expiredMessage = "transport: the certificate of this node is out of its time; other nodes will refuse it"
)

var holder = transporttest.Holder{Cluster: "billing", Node: 2}

// source reads the files of node 2.
func source(t *testing.T, files transport.TLS, logger *slog.Logger) *transport.CredentialsSource {
	t.Helper()
	s, err := transport.NewCredentialsSource(files, "palisade://billing/2", logger)
	require.NoError(t, err)
	return s
}

// age sets the times of files, as if nobody had touched them for long.
func age(t *testing.T, files transport.TLS, when time.Time) {
	t.Helper()
	for _, path := range []string{files.CAFile, files.CertFile, files.KeyFile} {
		require.NoError(t, os.Chtimes(path, when, when))
	}
}

func TestCertificateFilesAreReadAgain(t *testing.T) {
	const first, second = 2, 3 // serial numbers; the authority has 1
	old := time.Now().Add(-time.Hour)
	for _, c := range []struct {
		statement string
		change    func(t *testing.T, a *transporttest.Authority, files transport.TLS)
		want      int64
	}{
		{"NotWhenNothingChanged", func(*testing.T, *transporttest.Authority, transport.TLS) {}, first},
		{"WhenOthersTookTheirPlace", func(t *testing.T, a *transporttest.Authority, files transport.TLS) {
			a.Certify(t, filepath.Dir(files.CAFile), holder)
		}, second},
		{"WhenOthersOfTheSameTimeTookTheirPlace", func(t *testing.T, a *transporttest.Authority, files transport.TLS) {
			age(t, a.Certify(t, filepath.Dir(files.CAFile), holder), old)
		}, second},
		{"WhenTheyWereWrittenOver", func(t *testing.T, a *transporttest.Authority, files transport.TLS) {
			others := a.Certify(t, t.TempDir(), holder)
			copyOver(t, others.CertFile, files.CertFile)
			copyOver(t, others.KeyFile, files.KeyFile)
		}, second},
	} {
		t.Run(c.statement, func(t *testing.T) {
			authority := transporttest.NewAuthority(t)
			files := authority.Certify(t, t.TempDir(), holder)
			age(t, files, old)
			s := source(t, files, slog.Default())
			require.EqualValues(t, first, s.Serial())
			c.change(t, authority, files)
			require.Equal(t, c.want, s.Serial())
		})
	}
	t.Run("AfterAChangeThatTimeAndSizeDoNotShow", func(t *testing.T) {
		// File systems keep times in steps: two changes inside of one look
		// alike, so what has just changed is not trusted to be the last.
		authority := transporttest.NewAuthority(t)
		files := authority.Certify(t, t.TempDir(), holder)
		now := time.Now()
		age(t, files, now)
		s := source(t, files, slog.Default())
		var others transport.TLS
		for same := false; !same; { // lengths of signatures differ
			others = authority.Certify(t, t.TempDir(), holder)
			same = length(t, others.CertFile) == length(t, files.CertFile) && length(t, others.KeyFile) == length(t, files.KeyFile)
		}
		copyOver(t, others.CertFile, files.CertFile)
		copyOver(t, others.KeyFile, files.KeyFile)
		age(t, files, now)
		require.Greater(t, s.Serial(), int64(first))
	})
}

// copyOver writes the contents of one file into another that is there.
func copyOver(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, text, 0o600))
}

func length(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.Size()
}

// breakages are the ways in which files can be wrong.
var breakages = []struct {
	statement string
	breaks    func(t *testing.T, a *transporttest.Authority, files transport.TLS)
	wrong     string
}{
	{"ACertificateThatIsNone", write("CertFile", func([]byte) []byte { return []byte("none") }), "CertFile and KeyFile: tls: failed to find"},
	{"ACertificateThatIsCutOff", write("CertFile", func(text []byte) []byte { return text[:len(text)/2] }), "CertFile and KeyFile"},
	{"AnEmptyKey", write("KeyFile", func([]byte) []byte { return nil }), "CertFile and KeyFile"},
	{"AKeyOfAnotherCertificate", func(t *testing.T, a *transporttest.Authority, files transport.TLS) {
		copyOver(t, a.Certify(t, t.TempDir(), holder).KeyFile, files.KeyFile)
	}, "private key does not match public key"},
	{"ACertificateOfAnotherNode", func(t *testing.T, a *transporttest.Authority, files transport.TLS) {
		a.Certify(t, filepath.Dir(files.CAFile), transporttest.Holder{Cluster: "billing", Node: 3})
	}, "CertFile: the certificate is that of palisade://billing/3, it must be palisade://billing/2"},
	{"AnEmptyCA", write("CAFile", func([]byte) []byte { return nil }), "CAFile: it has no certificate"},
	{"ACAThatIsCutOff", write("CAFile", func(text []byte) []byte { return append(text, text[:len(text)/2]...) }),
		"CAFile: the last certificate is cut off or damaged"},
	{"ACAWithAKeyInIt", write("CAFile", func(text []byte) []byte {
		return append(text, "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"...)
	}), "CAFile: it holds a PRIVATE KEY"},
	{"ACAWithSomethingElseInIt", write("CAFile", func(text []byte) []byte {
		return append(text, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"...)
	}), "CAFile: x509: "},
	{"AnEndlessCA", write("CAFile", func([]byte) []byte { return bytes.Repeat([]byte("x"), 1<<20+1) }), "is longer than 1048576 bytes"},
	{"AFileThatIsGone", func(t *testing.T, _ *transporttest.Authority, files transport.TLS) {
		require.NoError(t, os.Remove(files.KeyFile))
	}, "key.pem: no such file"},
}

// write changes the text of one file.
func write(name string, change func([]byte) []byte) func(*testing.T, *transporttest.Authority, transport.TLS) {
	return func(t *testing.T, _ *transporttest.Authority, files transport.TLS) {
		t.Helper()
		path := map[string]string{"CAFile": files.CAFile, "CertFile": files.CertFile, "KeyFile": files.KeyFile}[name]
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, change(text), 0o600))
	}
}

func TestWrongCertificateFiles(t *testing.T) {
	for _, c := range breakages {
		t.Run(c.statement+"IsRefusedAtTheStart", func(t *testing.T) {
			authority := transporttest.NewAuthority(t)
			files := authority.Certify(t, t.TempDir(), holder)
			c.breaks(t, authority, files)
			network, err := transport.NewTCP(transport.TCPConfig{
				Member: transport.Member{Self: hello(2)}, ClusterName: "billing", TLS: files,
			})
			require.ErrorContains(t, err, c.wrong)
			require.ErrorContains(t, err, "transport: TLS: ")
			require.Nil(t, network)
		})
		t.Run(c.statement+"LeavesTheOldInUse", func(t *testing.T) {
			authority := transporttest.NewAuthority(t)
			files := authority.Certify(t, t.TempDir(), holder)
			logger, log := newJournal()
			s := source(t, files, logger)
			before := s.Serial()
			c.breaks(t, authority, files)
			for range 3 {
				require.Equal(t, before, s.Serial())
			}
			require.Equal(t, 1, log.count(brokenMessage), "logged once, not at each handshake")
			authority.Certify(t, filepath.Dir(files.CAFile), holder)
			require.Greater(t, s.Serial(), before, "and what is right again is used")
			require.Equal(t, 1, log.count(brokenMessage))
		})
	}
}

func TestACertificateOutOfItsTimeIsToldOf(t *testing.T) {
	authority := transporttest.NewAuthority(t)
	expired := holder
	expired.NotAfter = time.Now().Add(-time.Hour)
	files := authority.Certify(t, t.TempDir(), expired)
	logger, log := newJournal()
	s := source(t, files, logger)
	s.Serial()
	require.Equal(t, 1, log.count(expiredMessage))
	authority.Certify(t, filepath.Dir(files.CAFile), holder)
	s.Serial()
	require.Equal(t, 1, log.count(expiredMessage))
}
