#!/usr/bin/env bash
# Says what is wrong in a wrangler.toml, as the Worker would find it.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

[ -x target/debug/check ] || say "Compiling the checker (a minute, the first time)."
cargo run --quiet --bin check -- "${1:-wrangler.toml}"
