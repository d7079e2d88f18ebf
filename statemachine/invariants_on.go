//go:build invariants

package statemachine

// checkAfterApply panics when the batch has broken an invariant.
func (m *Machine) checkAfterApply() {
	if err := m.Check(); err != nil {
		broken("after index %d: %w", m.meta.Applied, err)
	}
}
