#!/usr/bin/env bash
# Clippy with every warning an error: the host's targets, the pure modules as a library, then the Worker.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

cargo clippy --quiet --all-targets -- -D warnings
cargo clippy --quiet --no-default-features --lib --bins -- -D warnings
WASM_BINDGEN_USE_JS_SYS=1 cargo clippy --quiet --target $WASM --lib --test wasm -- -D warnings
