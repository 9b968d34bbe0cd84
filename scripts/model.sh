#!/usr/bin/env bash
# Explores the protocol between isolates, actors and D1: every schedule, by so many moves deeper than the tests do, and more walks.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

DEPTH=${1:-1}
say "Compiling with optimisation (a few minutes the first time), then every schedule, deeper than in the tests by so many moves: $DEPTH."
PENSTOCK_MODEL_DEPTH=$DEPTH CARGO_TARGET_DIR=$ROOT/target/model \
  cargo test --quiet --config profile.dev.opt-level=2 --test native model:: -- --nocapture
