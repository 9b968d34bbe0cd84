#!/usr/bin/env bash
# Builds the bare Worker in Rust that Penstock is measured against, into bench/passthrough/build.
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/env.sh"

CRATE=bench/passthrough
LOG=$ROOT/target/passthrough-build.log

key="$({ find $CRATE/src -type f; printf '%s\n' $CRATE/Cargo.toml Cargo.lock; } | hash_files) $(rustc --version)"
[ "$(cat $CRATE/build/.key 2>/dev/null)" != "$key" ] || exit 0

say "Building the bare Worker to measure against (half a minute)."
mkdir -p target
# The main package's lock file, so that both are built of the same; cargo drops what is not needed here.
cp Cargo.lock $CRATE/Cargo.lock
if ! (cd $CRATE && CARGO_TARGET_DIR="$ROOT/target" worker-build --release) >"$LOG" 2>&1; then
  cat "$LOG" >&2
  fail "The build failed."
fi
printf '%s\n' "$key" >$CRATE/build/.key
