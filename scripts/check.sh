#!/usr/bin/env bash
# Says what is wrong in a wrangler.toml, as the Worker would find it.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

cargo run --quiet --bin check -- "${1:-wrangler.toml}"
