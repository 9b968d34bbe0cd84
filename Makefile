# Penstock's commands. Each sets up what it needs, in this folder alone; `make` lists them.
SHELL := bash
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.PHONY: help setup dev check deploy test lint fmt build size clean bench profile overload model fleet soak failing clients

help:                ## List these targets
	@awk -F':.*## ' '/^## / { print "\n" substr($$0, 4) } /^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

## Use it

setup:               ## Install the tools into .tools and node_modules (the others do it by themselves)
	@scripts/setup.sh

dev: setup           ## Run Penstock before a demo origin (PORT=8787, ORIGIN_PORT=9090, or ORIGIN=URL and CONFIG=FILE)
	@scripts/dev.sh

check: setup         ## Say what is wrong in a configuration (CONFIG=FILE), or what an edit does to counts (AGAINST=OLD)
	@scripts/check.sh $(CONFIG) $(if $(AGAINST),--against $(AGAINST))

deploy: setup        ## Check, migrate the D1 database, deploy (needs `npx wrangler login` once; CONFIG=FILE, ENV=NAME)
	@scripts/deploy.sh

## Change it

test: setup          ## Run every check and test, as CI does
	@scripts/test.sh

lint: setup          ## Format, clippy for the host and for wasm, the rules of the house
	@scripts/lint.sh

fmt: setup           ## Format the Rust sources
	@cargo fmt

build: setup         ## Build the Worker into build/ and print its size
	@scripts/build.sh

size: build          ## Show the module's parts, by crate
	@node scripts/size.mjs

clean:               ## Remove what builds left (CLEAN=all: the installed tools as well)
	@rm -rf build target .wrangler $(if $(filter all,$(CLEAN)),.tools node_modules)

## Measure it

bench: setup         ## Compare with other limiters on this machine (20 minutes; QUICK=1: three; LOG=access.log: its traffic)
	@scripts/bench.sh

profile: setup       ## Say where a request's processor time goes, and write docs/profile.md (5 minutes)
	@scripts/profile.sh

overload: setup      ## Offer ten times what a cap allows, for a minute (SECONDS=60)
	@scripts/overload.sh

fleet: setup         ## Simulate fleets of isolates and write docs/fleet.md and docs/fleet.svg
	@scripts/fleet.sh

## Try to break it

model: setup         ## Explore the protocol more deeply than `make test` does (DEPTH=1: by so many moves)
	@scripts/model.sh $(DEPTH)

soak: setup          ## Run everything at once for MINUTES=15: traffic, evictions, crashes, deploys, faults
	@scripts/soak.sh $(MINUTES)

failing: build       ## Try every fault with every other in the runtime, and write docs/failing.md
	@UPDATE=1 node_modules/.bin/node --test tests/edge/fault-matrix.test.mjs

clients: build      ## Run real SDKs and applications against Penstock (downloads them; 10 minutes)
	@scripts/clients.sh
