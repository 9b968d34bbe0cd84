# Penstock's commands. Each sets up what it needs, in this folder alone; `make` lists them.
SHELL := bash
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.PHONY: help setup dev test build size check bench profile overload model fleet soak failing lint fmt deploy clean

help:                ## List these targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F'\t' '{ printf "  make %-8s %s\n", $$1, $$2 }'

setup:               ## Install the tools into .tools and node_modules (the others do it by themselves)
	@scripts/setup.sh

dev: setup           ## Run Penstock in front of a small demo origin (PORT=8787, ORIGIN_PORT=9090, or ORIGIN=URL and CONFIG=FILE of your own)
	@scripts/dev.sh

test: setup          ## Run every check and test, as CI does
	@scripts/test.sh

build: setup         ## Build the Worker into build/ and print its size
	@scripts/build.sh

size: build          ## Show what the module is made of, by crate
	@node scripts/size.mjs

check: setup         ## Say what is wrong in a configuration (CONFIG=wrangler.toml)
	@scripts/check.sh $(CONFIG)

bench: setup         ## Compare with other limiters on this machine (15 minutes; QUICK=1: two)
	@scripts/bench.sh

profile: setup       ## Say where a request's processor time goes, and write docs/profile.md (5 minutes)
	@scripts/profile.sh

overload: setup      ## Offer ten times what a cap allows, for a minute (SECONDS=60)
	@scripts/overload.sh

model: setup         ## Explore the protocol more deeply than `make test` does (DEPTH=1: by so many moves)
	@scripts/model.sh $(DEPTH)

fleet: setup         ## Simulate fleets of isolates and write docs/fleet.md and docs/fleet.svg
	@scripts/fleet.sh

soak: setup          ## Run everything at once for MINUTES=15: traffic, evictions, crashes, deploys, faults
	@scripts/soak.sh $(MINUTES)

failing: build       ## Try every fault with every other in the runtime, and write what was seen into docs/failing.md
	@UPDATE=1 node_modules/.bin/node --test tests/edge/fault-matrix.test.mjs

lint: setup          ## Format check, clippy for the host and for wasm, architecture invariants
	@scripts/lint.sh

fmt: setup           ## Format the Rust sources
	@cargo fmt

deploy: setup        ## Check, migrate the D1 database, deploy (needs `npx wrangler login` once)
	@scripts/deploy.sh

clean:               ## Remove what builds left (CLEAN=all: the installed tools as well)
	@rm -rf build target .wrangler $(if $(filter all,$(CLEAN)),.tools node_modules)
