package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// section returns the commands of the operations guide after a mark.
func section(t *testing.T, mark string) string {
	t.Helper()
	guide, err := os.ReadFile(filepath.Join("..", "..", "docs", "operations.md"))
	require.NoError(t, err)
	_, after, found := strings.Cut(string(guide), "<!-- "+mark+" -->\n\n```sh\n")
	require.True(t, found, "the guide has no %q", mark)
	commands, _, found := strings.Cut(after, "```")
	require.True(t, found)
	return commands
}

func TestTheGuidesCommandsFitTheManifests(t *testing.T) {
	set := load(t, "StatefulSet")
	name, replicas := set.text("metadata", "name"), set.number("spec", "replicas")

	t.Run("TheClusterIsTheOneOfTheCertificates", func(t *testing.T) {
		require.Contains(t, section(t, "TLS example, run by a test"), "cluster="+program(t, set, name+"-0").cluster+"\n")
		require.Contains(t, container(set).at("args").value, "-cluster="+program(t, set, name+"-0").cluster)
	})

	t.Run("TheSecretHasTheFilesThatTheProgramReads", func(t *testing.T) {
		commands := section(t, "Secret, compared with the manifests by a test")
		secret := set.text("spec", "template", "spec", "volumes", 0, "secret", "secretName")
		require.Contains(t, commands, "kubectl create secret generic "+secret+" ")
		var given []string
		for _, m := range regexp.MustCompile(`--from-file=(\S+)`).FindAllStringSubmatch(commands, -1) {
			given = append(given, m[1])
		}
		read := []string{"ca.pem"}
		for i := range replicas {
			tls := program(t, set, name+"-"+strconv.Itoa(i)).config().TLS
			require.Equal(t, read[0], filepath.Base(tls.CAFile))
			read = append(read, filepath.Base(tls.CertFile), filepath.Base(tls.KeyFile))
		}
		require.Equal(t, read, given)
	})

	t.Run("FoundingAnewTakesAllClaims", func(t *testing.T) {
		commands := section(t, "Founding anew, compared with the manifests by a test")
		require.Contains(t, commands, "kubectl scale statefulset "+name+" --replicas=0\n")
		var claims strings.Builder
		for i := range replicas {
			fmt.Fprintf(&claims, " %s-%s-%d", set.text("spec", "volumeClaimTemplates", 0, "metadata", "name"), name, i)
		}
		require.Contains(t, commands, "kubectl delete pvc"+claims.String()+"\n")
		require.Contains(t, container(set).at("args").value, "-epoch=0", "what is to be raised")
	})
}
