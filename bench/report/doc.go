// Package report turns what a run has measured into JSON, tables, verdicts on
// the project's targets, and charts.
package report
