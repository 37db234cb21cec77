# Everything here is a name for a script or a go command that also works by itself.
export CGO_ENABLED = 1

.DEFAULT_GOAL := help
.PHONY: help test all race fuzz bench rivals benchstat lint docs check

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' Makefile

test: ## Quick tests, as ./test
	./test

all: ## Every test, as ./test --all
	./test --all

race: ## Quick tests under the race detector
	go test -race -timeout 10m ./...

fuzz: ## Fuzz one target: make fuzz TARGET=FuzzName PKG=./path TIME=1m
	go test -run '^$$' -fuzz '^$(TARGET)$$' -fuzztime $(or $(TIME),1m) $(PKG)

bench: ## Ratios against the driver alone, with their bars
	scripts/bench

rivals: ## Ratios against periods and MariaDB, with their bars
	scripts/rivals

benchstat: ## Compare two saved benchmark runs: make benchstat OLD=a.txt NEW=b.txt
	go build -C tools -o ../bin/ golang.org/x/perf/cmd/benchstat
	bin/benchstat $(OLD) $(NEW)

lint: ## golangci-lint and shellcheck
	scripts/lint

docs: ## Check the code in the documents
	scripts/doccheck

check: ## What has to pass before a change lands
	.ci/run
