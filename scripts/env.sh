# Sourced by the other scripts: where things are, and which tools to use. Works with a bare PATH, as
# wrangler's build step may have it.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$ROOT"

WORKER_BUILD_VERSION=0.8.7
# The command-line tool must be of exactly the version that the crate was built against.
WASM_BINDGEN_VERSION=$(awk '/^name = "wasm-bindgen"$/ { getline; gsub(/"/, "", $3); print $3 }' Cargo.lock)
WASM=wasm32-unknown-unknown

# npm itself must not run on the Node that it is about to replace, so it gets the PATH as it was.
SYSTEM_PATH=${SYSTEM_PATH:-$PATH}
export SYSTEM_PATH
export PATH="$ROOT/node_modules/.bin:$ROOT/.tools/bin:${CARGO_HOME:-${HOME:-}/.cargo}/bin:$SYSTEM_PATH"

# worker-build and wrangler would otherwise look for things on the network.
export WASM_BINDGEN_BIN="$ROOT/.tools/bin/wasm-bindgen"
export WASM_OPT_BIN="$ROOT/node_modules/.bin/wasm-opt"
export ESBUILD_BIN="$ROOT/node_modules/.bin/esbuild"
export CLOUDFLARE_CF_FETCH_ENABLED=false WRANGLER_SEND_METRICS=false WRANGLER_HIDE_BANNER=true
export WRANGLER_LOG_PATH="$ROOT/.wrangler/logs"

say() { printf '%s\n' "$@"; }

fail() {
  printf '%s\n' "$@" >&2
  exit 1
}

# Lets one script at a time go on from here, until it ends: two would install or build into the same folder. Whoever died there is passed over.
alone() { # a name for what is done
  local lock=$ROOT/.tools/$1.lock holder empty=0 said=""
  mkdir -p "$ROOT/.tools"
  until mkdir "$lock" 2>/dev/null; do
    holder=$(cat "$lock/pid" 2>/dev/null || true)
    [ -n "$holder" ] || empty=$((empty + 1))
    if [ $empty -gt 5 ] || { [ -n "$holder" ] && ! kill -0 "$holder" 2>/dev/null; }; then
      rm -rf "$lock"
      continue
    fi
    [ -n "$said" ] || say "Waiting for another $1 in this folder (process ${holder:-unknown})."
    said=1
    sleep 1
  done
  echo $$ >"$lock/pid"
  # shellcheck disable=SC2064  # which lock it is, is known now
  trap "rm -rf '$lock'" EXIT
}

# One hash of the names and contents of the files given on standard input.
hash_files() {
  local list
  list=$(LC_ALL=C sort)
  { printf '%s\n' "$list"; printf '%s\n' "$list" | git hash-object --no-filters --stdin-paths; } | git hash-object --stdin
}
