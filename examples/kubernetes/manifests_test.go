package main

import (
	"net"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
)

// manifest is a part of a manifest, and where it is.
type manifest struct {
	t     *testing.T
	where string
	value any
}

// load reads a manifest of a kind.
func load(t *testing.T, kind string) manifest {
	t.Helper()
	file := filepath.Join("manifests", strings.ToLower(kind)+".yaml")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	value, err := parseYAML(string(text))
	require.NoError(t, err, file)
	m := manifest{t, kind, value}
	require.Equal(t, kind, m.text("kind"))
	return m
}

// at follows keys, and numbers of items; it fails if there is nothing.
func (m manifest) at(steps ...any) manifest {
	m.t.Helper()
	for _, step := range steps {
		var found bool
		switch step := step.(type) {
		case string:
			m.value, found = m.mapping()[step]
			m.where += "." + step
		case int:
			if items := m.items(); step < len(items) {
				m, found = items[step], true
			}
		}
		require.True(m.t, found, "%s is missing", m.where)
	}
	return m
}

func (m manifest) mapping() map[string]any {
	m.t.Helper()
	value, ok := m.value.(map[string]any)
	require.True(m.t, ok, "%s is no mapping", m.where)
	return value
}

func (m manifest) items() []manifest {
	m.t.Helper()
	values, ok := m.value.([]any)
	require.True(m.t, ok, "%s is no sequence", m.where)
	items := make([]manifest, len(values))
	for i, value := range values {
		items[i] = manifest{m.t, m.where + "[" + strconv.Itoa(i) + "]", value}
	}
	return items
}

func (m manifest) text(steps ...any) string {
	m.t.Helper()
	m = m.at(steps...)
	value, ok := m.value.(string)
	require.True(m.t, ok, "%s is no scalar", m.where)
	return value
}

func (m manifest) number(steps ...any) int {
	m.t.Helper()
	n, err := strconv.Atoi(m.text(steps...))
	require.NoError(m.t, err, m.where)
	return n
}

// named returns the item that has a name.
func (m manifest) named(name string) manifest {
	m.t.Helper()
	for _, item := range m.items() {
		if item.mapping()["name"] == name {
			return item
		}
	}
	require.FailNow(m.t, "missing", "%s has no item with the name %s", m.where, name)
	return manifest{}
}

// program returns the settings that a pod's container gives the program.
func program(t *testing.T, set manifest, hostname string) settings {
	var args []string
	for _, arg := range container(set).at("args").items() {
		args = append(args, arg.text())
	}
	s, err := parse(args, hostname)
	require.NoError(t, err)
	return s
}

func container(set manifest) manifest {
	return set.at("spec", "template", "spec", "containers", 0)
}

func TestManifestsFitTheProgram(t *testing.T) {
	set, service := load(t, "StatefulSet"), load(t, "Service")
	name, pod := set.text("metadata", "name"), set.at("spec", "template", "spec")
	s := program(t, set, name+"-0")

	t.Run("TheGracePeriodIsLongEnoughForTheWholeRecipe", func(t *testing.T) {
		require.NotContains(t, container(set).mapping(), "lifecycle", "a preStop pause would have to be added")
		grace := time.Duration(pod.number("terminationGracePeriodSeconds")) * time.Second
		require.Greater(t, grace, s.hold+s.config().CloseMax())
		require.Equal(t, 53*time.Second, s.hold+s.config().CloseMax(), "what the manifest's comment says")
	})

	t.Run("EveryPodIsTheMemberOfItsOrdinal", func(t *testing.T) {
		replicas := set.number("spec", "replicas")
		for i := range replicas {
			pod := name + "-" + strconv.Itoa(i)
			s := program(t, set, pod)
			require.Equal(t, coordinator.NodeID(i+1), s.node)
			require.Len(t, s.peers, replicas)
			require.Equal(t, pod+"."+service.text("metadata", "name")+":"+service.text("spec", "ports", 0, "port"), s.peers[s.node])
		}
		require.Equal(t, service.text("metadata", "name"), set.text("spec", "serviceName"))
	})

	t.Run("NodesFindOneAnotherBeforeTheyAreReady", func(t *testing.T) {
		require.Equal(t, "Parallel", set.text("spec", "podManagementPolicy"))
		require.Equal(t, "None", service.text("spec", "clusterIP"))
		require.Equal(t, "true", service.text("spec", "publishNotReadyAddresses"))
		require.Equal(t, "RollingUpdate", set.text("spec", "updateStrategy", "type"))
	})

	t.Run("EverySelectorIsOfThePods", func(t *testing.T) {
		labels := set.at("spec", "template", "metadata", "labels").mapping()
		require.NotEmpty(t, labels)
		policy := load(t, "NetworkPolicy")
		for _, selector := range []manifest{
			set.at("spec", "selector", "matchLabels"), service.at("spec", "selector"),
			load(t, "PodDisruptionBudget").at("spec", "selector", "matchLabels"),
			policy.at("spec", "podSelector", "matchLabels"),
			policy.at("spec", "ingress", 0, "from", 0, "podSelector", "matchLabels"),
			policy.at("spec", "egress", 0, "to", 0, "podSelector", "matchLabels"),
			pod.at("affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution", 0, "labelSelector", "matchLabels"),
		} {
			require.Equal(t, labels, selector.mapping(), selector.where)
		}
	})

	t.Run("AQuorumSurvivesADrainAndAMachine", func(t *testing.T) {
		require.Equal(t, 1, load(t, "PodDisruptionBudget").number("spec", "maxUnavailable"))
		require.Equal(t, "kubernetes.io/hostname",
			pod.text("affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution", 0, "topologyKey"))
	})

	t.Run("PortsAgree", func(t *testing.T) {
		_, raft, err := net.SplitHostPort(s.peers[1])
		require.NoError(t, err)
		_, probes, err := net.SplitHostPort(s.http)
		require.NoError(t, err)
		ports := container(set).at("ports")
		require.Equal(t, raft, ports.named("raft").text("containerPort"))
		require.Equal(t, probes, ports.named("http").text("containerPort"))
		require.Equal(t, raft, service.text("spec", "ports", 0, "port"))
		require.Equal(t, "raft", service.text("spec", "ports", 0, "targetPort"))

		policy := load(t, "NetworkPolicy").at("spec")
		require.Equal(t, []any{"Ingress", "Egress"}, policy.at("policyTypes").value)
		require.Len(t, policy.at("ingress").items(), 2)
		require.Len(t, policy.at("egress").items(), 2)
		tcp := func(port string) []any { return []any{map[string]any{"protocol": "TCP", "port": port}} }
		require.Len(t, policy.at("ingress", 0, "from").items(), 1, "nobody but the pods")
		require.Equal(t, tcp(raft), policy.at("ingress", 0, "ports").value)
		require.Equal(t, tcp(probes), policy.at("ingress", 1, "ports").value)
		require.Equal(t, tcp(raft), policy.at("egress", 0, "ports").value)
		dns := map[string]any{"protocol": "UDP", "port": "53"}
		require.Equal(t, append([]any{dns}, tcp("53")...), policy.at("egress", 1, "ports").value)
	})

	t.Run("ProbesAskForWhatTheyAreFor", func(t *testing.T) {
		for probe, path := range map[string]string{
			"startupProbe": livePath, "livenessProbe": livePath, "readinessProbe": readyPath,
		} {
			ask := container(set).at(probe, "httpGet")
			require.Equal(t, path, ask.text("path"), probe)
			require.Equal(t, "http", ask.text("port"), probe)
		}
	})

	t.Run("TheProgramWritesToItsVolumeAndNowhereElse", func(t *testing.T) {
		mounts, volume := container(set).at("volumeMounts"), set.at("spec", "volumeClaimTemplates", 0)
		data := mounts.named(volume.text("metadata", "name"))
		require.Equal(t, data.text("mountPath"), path.Dir(s.dir), "a directory of its own below the mount, which may have a lost+found")
		require.Equal(t, "ReadWriteOncePod", volume.text("spec", "accessModes", 0))
		require.Equal(t, s.tls, mounts.named(pod.text("volumes", 0, "name")).text("mountPath"))
		require.Equal(t, "true", mounts.named("tls").text("readOnly"))
		require.Equal(t, "true", container(set).text("securityContext", "readOnlyRootFilesystem"))
	})

	t.Run("ThePodHasNoRightsItDoesNotNeed", func(t *testing.T) {
		require.Equal(t, "true", pod.text("securityContext", "runAsNonRoot"))
		require.NotZero(t, pod.number("securityContext", "runAsUser"))
		require.Equal(t, pod.text("securityContext", "runAsGroup"), pod.text("securityContext", "fsGroup"), "the volumes are readable for it")
		require.Equal(t, "false", pod.text("automountServiceAccountToken"))
		rights := container(set).at("securityContext")
		require.Equal(t, "false", rights.text("allowPrivilegeEscalation"))
		require.Equal(t, []any{"ALL"}, rights.at("capabilities", "drop").value)
	})

	t.Run("ResourcesAreAskedFor", func(t *testing.T) {
		resources := container(set).at("resources")
		require.Contains(t, resources.at("requests").mapping(), "cpu")
		require.Contains(t, resources.at("requests").mapping(), "memory")
		require.Contains(t, resources.at("limits").mapping(), "memory")
		require.NotContains(t, resources.at("limits").mapping(), "cpu")
	})
}
