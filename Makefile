# The steps themselves are in .ci/run, so that what a contributor runs is what
# the check of a change runs.

.PHONY: help check fmt vet staticcheck lint test databases invariants race examples portable fuzz mutation proof

help: ## list the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/\1\t\2/' | expand -t 14

check: ## everything that a change has to pass, and the time each step took
	@bash .ci/run

fmt: ## gofmt has nothing to change
	@bash .ci/run fmt

vet: ## go vet, with and without -tags invariants
	@bash .ci/run vet

staticcheck: ## staticcheck, as pinned in tools/go.mod
	@bash .ci/run staticcheck

lint: ## the rules of internal/lint
	@bash .ci/run lint

test: ## go test ./...
	@bash .ci/run test

databases: ## the modules with database drivers, against a PostgreSQL that it starts
	@bash .ci/run databases

invariants: ## the lock machine with its invariants checked after every command
	@bash .ci/run invariants

race: ## the race detector over the packages that have goroutines or locks
	@bash .ci/run race

examples: ## run the example programs
	@bash .ci/run examples

portable: ## compile for macOS, and without cgo
	@bash .ci/run portable

fuzz: ## every Fuzz function for FUZZTIME (10s) each; not part of check
	@bash .ci/run fuzz

mutation: ## known faults, one at a time, each of which a test has to notice; not part of check
	@bash .ci/run mutation

proof: ## simulator, explorer, disks and processes for PROOFTIME (10m) each; not part of check
	@bash .ci/run proof
