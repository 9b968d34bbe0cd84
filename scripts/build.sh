#!/usr/bin/env bash
# Builds the Worker into build/. `make build` and wrangler (for `dev` as for `deploy`) both come here, so there is
# one way to build it. Where nothing has changed since the last build it only says so.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

MAX_KIB=400 # of the compressed module: it bounds what a cold start has to load
MODULE=build/index_bg.wasm
LOG=target/worker-build.log

for tool in .tools/bin/worker-build "$WASM_BINDGEN_BIN" "$WASM_OPT_BIN" "$ESBUILD_BIN"; do
  [ -x "$tool" ] || fail "${tool#"$ROOT"/} is missing. Run: make setup"
done

alone build

inputs() {
  find src -type f
  printf '%s\n' Cargo.toml Cargo.lock package-lock.json scripts/env.sh scripts/build.sh scripts/bundle.sh scripts/import-once.mjs \
    scripts/exports.mjs
}
key="$(inputs | hash_files) $(rustc --version)"

if [ "$(cat build/.key 2>/dev/null)" = "$key" ] && [ -f $MODULE ]; then
  built="is up to date"
else
  say "Building the Worker (a few minutes the first time, then about half a minute)."
  mkdir -p build target
  rm -f build/.key
  if ! ESBUILD_BIN="$ROOT/scripts/bundle.sh" worker-build --release >$LOG 2>&1; then
    grep -vE '^ *(Compiling|Downloaded|Downloading|Updating|Locking|Fresh) ' $LOG >&2
    fail "The build failed. Its whole output is in $LOG."
  fi
  # The names of functions are a tenth of the module, and of use only to `make size`: a panic says where it was without.
  cp $MODULE target/named.wasm
  node scripts/exports.mjs target/named.wasm >target/exports.json
  wasm-metadce --all-features target/named.wasm --graph-file target/exports.json -o target/used.wasm >/dev/null
  "$WASM_OPT_BIN" --all-features --strip-debug -Oz target/used.wasm -o $MODULE
  printf '%s\n' "$key" >build/.key
  built="built"
fi

bytes=$(gzip -9 -c $MODULE | wc -c | tr -d ' ')
say "The Worker $built: $((bytes / 1024)) KiB of WebAssembly compressed, of $MAX_KIB allowed."
[ "$bytes" -le $((MAX_KIB * 1024)) ] || fail "That is more than $MAX_KIB KiB. See what grew: wasm-opt --metrics $MODULE"
