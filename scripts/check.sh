#!/usr/bin/env bash
# Says what is wrong in a wrangler.toml, wrangler.jsonc or wrangler.json, as the Worker would find it. Without a name it reads
# the file that wrangler would. `--against OLD` says what becomes of the counts of another file.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

[ -x target/debug/check ] || say "Compiling the checker (a minute, the first time)."
cargo run --quiet --bin check -- "$@"
