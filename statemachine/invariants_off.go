//go:build !invariants

package statemachine

// checkAfterApply does nothing in a build without the tag invariants.
func (m *Machine) checkAfterApply() {}
