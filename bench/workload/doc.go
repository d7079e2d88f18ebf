// Package workload is what a cluster is put through: each Workload measures one
// thing of it and returns Values by the name of their Metric.
package workload
