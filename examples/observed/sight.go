package main

import (
	"fmt"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/dashboard"
	"github.com/palisade-go/palisade/coordinator/logs"
	"github.com/palisade-go/palisade/coordinator/metrics"
)

// site is what is served of all nodes. A program has one node as a rule, and then
// neither the number in the path nor the label.
type site struct {
	*http.ServeMux
	registry *prometheus.Registry
	logger   *slog.Logger
}

func newSite(logger *slog.Logger) *site {
	s := &site{http.NewServeMux(), prometheus.NewRegistry(), logger}
	s.Handle("/metrics", promhttp.HandlerFor(s.registry, promhttp.HandlerOpts{}))
	s.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		for _, id := range members {
			fmt.Fprintf(w, "node %d is at /node/%d/\n", id, id)
		}
	})
	return s
}

// sight is all that is to be seen of one node: a page, metrics and a log.
type sight struct {
	page    *dashboard.Dashboard
	metrics *metrics.Metrics
	logger  *slog.Logger
}

// sightOf adds what is to be seen of a node to the site.
func (s *site) sightOf(id coordinator.NodeID) *sight {
	number := strconv.FormatUint(uint64(id), 10)
	v := &sight{page: dashboard.New(dashboard.Options{}), metrics: metrics.New(), logger: s.logger.With("node", number)}
	prefix := "/node/" + number
	s.Handle(prefix+"/", http.StripPrefix(prefix, v.page))
	prometheus.WrapRegistererWith(prometheus.Labels{"node": number}, s.registry).MustRegister(v.metrics)
	return v
}

// observers are told what happens at the node: they belong into its Config.
func (v *sight) observers() []coordinator.Observer {
	return []coordinator.Observer{v.page, v.metrics, logs.New(v.logger, logs.Options{})}
}

// watch shows what the node knows itself, once it is open.
func (v *sight) watch(node *coordinator.Coordinator) {
	v.page.Watch(node)
	v.metrics.Watch(node)
}
