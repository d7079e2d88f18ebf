package httpfence

// Waiting returns how many requests have or want a resource.
func (g *Guard) Waiting(resource string) int {
	g.turns.mu.Lock()
	defer g.turns.mu.Unlock()
	if l := g.turns.lines[resource]; l != nil {
		return l.requests
	}
	return 0
}

// Lines returns how many resources somebody works on or waits for.
func (g *Guard) Lines() int {
	g.turns.mu.Lock()
	defer g.turns.mu.Unlock()
	return len(g.turns.lines)
}

// WithDefaults returns what a guard makes of its configuration.
func WithDefaults(cfg Config) Config { return cfg.withDefaults() }
