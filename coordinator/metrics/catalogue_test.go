package metrics_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/metrics"
)

// catalogue has what a query can name, by the name that it uses: of a histogram
// its buckets, its sum and its count.
type catalogue map[string]labelValues

// labelValues are the labels of a series with the values that they can have; nil:
// not known beforehand.
type labelValues map[string][]string

// targetLabels are those that every scrape adds.
var targetLabels = []string{"instance", "job"}

// catalogueOf returns what a node gives to Prometheus.
func catalogueOf(t testing.TB) catalogue {
	t.Helper()
	c := catalogue{}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(metrics.New())
	families, err := registry.Gather()
	require.NoError(t, err)
	for _, f := range families {
		values := labelValues{}
		for _, one := range f.GetMetric() {
			for _, l := range one.GetLabel() {
				values[l.GetName()] = append(values[l.GetName()], l.GetValue())
			}
		}
		if f.GetType() != dto.MetricType_HISTOGRAM {
			c.add(f.GetName(), values)
			continue
		}
		for _, suffix := range []string{"_sum", "_count"} {
			c.add(f.GetName()+suffix, values)
		}
		values["le"] = boundsOf(f.GetMetric()[0].GetHistogram())
		c.add(f.GetName()+"_bucket", values)
	}
	// What is only there after Watch.
	for name, labels := range describedLabels(t) {
		if slices.ContainsFunc(families, func(f *dto.MetricFamily) bool { return f.GetName() == name }) {
			continue
		}
		values := labelValues{}
		for _, label := range labels {
			values[label] = nil
		}
		c.add(name, values)
	}
	return c
}

func (c catalogue) add(name string, values labelValues) {
	all := labelValues{}
	for label, of := range values {
		all[label] = of
	}
	for _, label := range targetLabels {
		all[label] = nil
	}
	c[name] = all
}

// boundsOf returns the values of the label le, as Prometheus writes them.
func boundsOf(h *dto.Histogram) []string {
	var bounds []string
	for _, b := range h.GetBucket() {
		bounds = append(bounds, strconv.FormatFloat(b.GetUpperBound(), 'g', -1, 64))
	}
	return append(bounds, "+Inf")
}

// describedLabels returns the names of the labels of all that Metrics describes.
func describedLabels(t testing.TB) map[string][]string {
	t.Helper()
	descs := make(chan *prometheus.Desc)
	go func() {
		metrics.New().Describe(descs)
		close(descs)
	}()
	inDesc := regexp.MustCompile(`fqName: "([a-z_]+)".*variableLabels: (.*)}$`)
	described := map[string][]string{}
	for d := range descs {
		match := inDesc.FindStringSubmatch(d.String())
		require.NotNil(t, match, d.String())
		label := regexp.MustCompile(`[a-z]+`).FindAllString(match[2], -1)
		described[match[1]] = label[:min(1, len(label))]
	}
	return described
}

// record adds what a rule records. Its name says first which labels it has:
// job_group:what:how has job and group.
func (c catalogue) record(name string) {
	values := labelValues{}
	level, _, _ := strings.Cut(name, ":")
	for _, label := range strings.Split(level, "_") {
		switch label {
		case "palisade": // of no cluster
		case "instance":
			values["instance"], values["job"] = nil, nil
		default:
			values[label] = nil
		}
	}
	c[name] = values
}

func TestTheCatalogueHasAllKindsOfSeries(t *testing.T) {
	c := catalogueOf(t)
	require.Contains(t, c["palisade_wait_seconds_bucket"]["le"], "0.0015")
	require.Contains(t, c["palisade_wait_seconds_count"]["end"], "queue full")
	require.NotContains(t, c["palisade_wait_seconds_count"], "le")
	require.Contains(t, c["palisade_losses_total"]["reason"], "window")
	require.Contains(t, c["palisade_peer_reached"], "peer")
	require.Contains(t, c["palisade_up"], "job")
	require.NotContains(t, c, "palisade_wait_seconds")
}
