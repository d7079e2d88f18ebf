// Package fencetest checks guards.
package fencetest
