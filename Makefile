# Drover's chores. `make` alone lists them.
#
# The tools (buf, the protobuf plugins, gofumpt, golangci-lint) are pinned in
# internal/tools and run through `go tool`: nothing to install, and the
# first run compiles them once into Go's build cache.

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.DEFAULT_GOAL := help

TOOL := go tool -modfile=internal/tools/tools.mod
BUF  := $(TOOL) buf
LINT := go tool -modfile=internal/tools/lint.mod golangci-lint

# PKG narrows test, race, bench, fuzz, soak and vet: make race PKG=./batch/...
PKG          ?= ./...
# TESTFLAGS goes to `go test`: make race TESTFLAGS='-run Cancel -v'
TESTFLAGS    ?=
# BENCH selects benchmarks by name, COUNT repeats them (10 for benchstat).
BENCH        ?= .
COUNT        ?= 1
# FUZZTIME is spent on each fuzz target, RAPID_CHECKS on each property.
FUZZTIME     ?= 10s
SOAKTIME     ?= 1m
RAPID_CHECKS ?= 2000
# FAULT_SEEDS is how many grids `make soak` lets fail.
FAULT_SEEDS  ?= 100000
# SLURM_JOBS is how many jobs three real clusters get in `make soak`.
SLURM_JOBS   ?= 200
# NODES_TIME is for how long `make soak` lets the hosts of a site fail.
NODES_TIME   ?= 5m
# PROCESSES is how many packages are tested at a time: many of them mostly wait.
PROCESSES    ?= $(shell echo $$(($$(nproc) * 3 / 2)))
# AGAINST is what `make breaking` compares the wire format with: the last release.
AGAINST      ?= $(shell git describe --tags --abbrev=0 --match 'v*' 2>/dev/null)

PROTOS = $(shell find proto -name '*.proto' 2>/dev/null)

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: build
build: ## build bin/drover and bin/drover-lab
	@go build -trimpath -o bin/ ./cmd/drover ./cmd/drover-lab

# The race tests come last, so that the last lines are those of `go test`. The limit
# is that of one package: real clusters take their time.
.PHONY: test
test: slurm generate-check vet lint race ## everything CI asks for: generated code, vet, lint, race and end-to-end tests

# Tests on real clusters are skipped, and say so, where this finds no way.
.PHONY: slurm
slurm: ## install Slurm for the tests where it is missing and can be (root, apt)
	@internal/slurmtest/install.sh

# END_TO_END matches the packages whose tests run real processes, clusters or hosts.
END_TO_END = /(cmd/[^/]+|cmd/drover-lab/bench|server|client/python|proto/drover/v1|agent/gossip|internal/slurmtest|batch/(slurm|external)|batch/exec/(cgroup|node|supervisor)(/.*)?)$$

# LONGEST matches those of END_TO_END that start first: they take minutes.
LONGEST = /(cmd/drover|server|batch/slurm)$$

.PHONY: check
check: vet ## the inner loop: vet, layout and the fast tests, without race detector, under 2 minutes
	@go test $(TESTFLAGS) $$(go list ./... | grep -vE '$(END_TO_END)')

# CORES matches packages that start no goroutine, which internal/layout checks. The race detector
# can find nothing there, and makes their simulations twenty times slower.
CORES = /(batch|batch/(engine|plan/[a-z]+|policy|policy/(cbf|convergent|dfrs|dynp|easy|fcfs|overbook)(/.*)?)|reallocation|agent/mapping|server/(site|catalogue|loop)|sim/(lublin|scenarios)|cmd/drover-lab/(growth|papers/(chart|convergent|dynp|overbooking|reallocation)(/.*)?|papers/dfrs))$$

# Go caches test results, so a second run tests only what has changed. Tests that run processes
# mostly wait: they begin, the longest first, and the others compute beside them.
.PHONY: race
race: ## the tests alone, with the race detector where there are goroutines
	@failed=
	cores=$$(go list $(PKG) | grep -E '$(CORES)' || true)
	live=$$(go list $(PKG) | grep -E '$(LONGEST)' || true)
	live+=" $$(go list $(PKG) | grep -vE '$(CORES)' | grep -vE '$(LONGEST)' || true)"
	[ -z "$$cores" ] || go test -timeout 15m $(TESTFLAGS) $$cores || failed=1
	[ -z "$${live// /}" ] || go test -race -p $(PROCESSES) -timeout 15m $(TESTFLAGS) $$live || failed=1
	[ -z "$$failed" ]

.PHONY: vet
vet: ## go vet
	@go vet $(PKG)

.PHONY: lint
lint: ## golangci-lint, as .golangci.yml chooses
	@$(LINT) run $(PKG)

.PHONY: fmt
fmt: ## format Go with gofumpt and protobuf with buf, in place
	@$(TOOL) gofumpt -w .
	if [ -n "$(PROTOS)" ]; then $(BUF) format -w; fi

.PHONY: generate
generate: ## generate Go from proto/, beside the .proto files
	@if [ -z "$(PROTOS)" ]; then echo "generate: no .proto file yet"; exit 0; fi
	$(BUF) generate --template proto/buf.gen.yaml

# Generates beside the tree, never into it, and compares both ways: an edited,
# a missing and a left-over generated file all fail.
.PHONY: generate-check
generate-check: breaking ## fail if proto/ has lint or the generated code is stale
	@if [ ! -d proto ]; then exit 0; fi
	fresh=$$(mktemp -d)
	trap 'rm -rf "$$fresh"' EXIT
	find proto -type d -exec mkdir -p "$$fresh/{}" ';'
	if [ -n "$(PROTOS)" ]; then
		$(BUF) lint
		$(BUF) format -d --exit-code
		$(BUF) generate --template proto/buf.gen.yaml -o "$$fresh"
	fi
	if ! diff -ru -x '*.proto' -x doc.go -x buf.gen.yaml -x rpc -x problem -x '*_test.go' proto "$$fresh/proto"; then
		echo "The generated code in proto/ is stale: run 'make generate' and commit what it writes." >&2
		exit 1
	fi

.PHONY: breaking
breaking: ## fail if drover.v1 breaks readers of the last release (AGAINST=git-ref)
	@if [ -z "$(AGAINST)" ] || [ -z "$(PROTOS)" ]; then exit 0; fi
	$(BUF) breaking --against '.git#ref=$(AGAINST)'

.PHONY: bench
bench: ## benchmarks (BENCH=regexp PKG=./batch/plan/profile COUNT=10)
	@go test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) $(PKG)

# go test -list prints a package's targets and then "ok <package>".
.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME (10s) each
	@list=$$(go test -list '^Fuzz' $(PKG))
	awk '/^Fuzz/ { name[n++] = $$1 } $$1 == "ok" { for (i = 0; i < n; i++) print $$2, name[i]; n = 0 }' <<< "$$list" |
	while read -r package target; do
		echo "== $$package $$target for $(FUZZTIME)"
		go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$package" < /dev/null
	done

# Not part of `make test`: it wants spin, and takes minutes.
.PHONY: model
model: ## check the protocol's model and its planted faults (needs spin and gcc)
	@docs/protocol/check.sh

# Only packages that use rapid know its flags.
.PHONY: soak
soak: ## race tests with RAPID_CHECKS (2000) per property, SLURM_JOBS (200) on three clusters, hosts that fail for NODES_TIME (5m), FAULT_SEEDS (100000) simulated grids, then SOAKTIME (1m) per fuzz target
	@go test -race -count=1 -timeout 30m $(TESTFLAGS) $(PKG)
	go test -count=1 -timeout 30m ./cmd/drover -run 'ThreeSlurm|KilledController' -slurm.jobs=$(SLURM_JOBS)
	go test -race -count=1 -timeout 60m ./cmd/drover -run NodesSoak -v -nodes.time=$(NODES_TIME)
	properties=$$(go list -f '{{.ImportPath}} {{join .TestImports " "}} {{join .XTestImports " "}}' $(PKG) |
		awk '/ pgregory\.net\/rapid( |$$)/ { print $$1 }')
	if [ -n "$$properties" ]; then
		go test -race -count=1 -timeout 60m $(TESTFLAGS) $$properties -rapid.checks=$(RAPID_CHECKS)
	fi
	go run ./cmd/drover sim faults --seeds $(FAULT_SEEDS)
	$(MAKE) --no-print-directory fuzz FUZZTIME=$(SOAKTIME)

.PHONY: clean
clean: ## remove what the targets above leave in the tree
	@rm -rf bin out coverage.out
