#!/usr/bin/env bash
# Simulates fleets of isolates before one actor, and writes docs/fleet.md and docs/fleet.svg.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

say "Compiling with optimisation (a few minutes the first time), then some minutes of simulation."
CARGO_TARGET_DIR=$ROOT/target/model cargo run --quiet --config profile.dev.opt-level=2 --example fleet
