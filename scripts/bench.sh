#!/usr/bin/env bash
# What a decision costs, on this machine. Run it on an idle one.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

grep -q '^\[\[bench\]\]' Cargo.toml || fail "Cargo.toml declares no [[bench]], so there is nothing to measure."
say "Compiling with optimisation (a few minutes the first time)."
cargo bench --quiet --bench "*"
