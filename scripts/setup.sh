#!/usr/bin/env bash
# Installs what the other scripts use: the wasm target through rustup, the Rust tools into .tools, the npm
# packages into node_modules. Does nothing, quickly, where all of it is there already.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

LOG=$ROOT/.tools/log
mkdir -p "$LOG"
alone setup

need() { # command, what it is, where to get it
  PATH=$SYSTEM_PATH:$PATH command -v "$1" >/dev/null || fail "Penstock needs $2: $3"
}

rust() {
  need cargo "Rust (stable)" "https://rustup.rs"
  cargo fmt --version >/dev/null 2>&1 || rustup component add rustfmt
  cargo clippy --version >/dev/null 2>&1 || rustup component add clippy
  [ -n "$(ls "$(rustc --print target-libdir --target $WASM)" 2>/dev/null)" ] && return
  say "Adding Rust's $WASM target (seconds)."
  rustup target add $WASM >"$LOG/rustup.log" 2>&1 || { cat "$LOG/rustup.log"; fail "rustup could not add $WASM."; }
}

npm_packages() {
  need node "Node.js 20 or later" "https://nodejs.org"
  need npm "npm, which comes with Node.js" "https://nodejs.org"
  local major
  major=$(PATH=$SYSTEM_PATH node -p 'process.versions.node.split(".")[0]')
  [ "$major" -ge 20 ] || fail "Penstock needs Node.js 20 or later; this is $(PATH=$SYSTEM_PATH node --version)."

  local key stamp=node_modules/.penstock-key
  key=$(printf '%s\n' package.json package-lock.json .npmrc | hash_files)
  [ "$(cat $stamp 2>/dev/null)" = "$key" ] && return
  say "Installing the npm packages: wrangler, Node 22, wasm-opt, … (about a minute, 500 MB)."
  PATH=$SYSTEM_PATH npm ci --include=dev --ignore-scripts=false --loglevel=error >"$LOG/npm.log" 2>&1 ||
    { cat "$LOG/npm.log"; fail "npm ci failed."; }
  node_modules/.bin/node --version | grep -q '^v22\.' || fail "node_modules/.bin/node is not Node 22; is npm told to ignore install scripts?"
  printf '%s\n' "$key" >$stamp
}

installed() { # crate, version
  grep -q "^\"$1 $2 " .tools/.crates.toml 2>/dev/null
}

rust_tool() { # crate, version, further arguments of `cargo install`
  local crate=$1 version=$2
  shift 2
  installed "$crate" "$version" && return
  say "Installing $crate $version (about two minutes on two cores)."
  # These tools run for seconds: it pays to compile them fast, not to compile them well.
  CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
    cargo install "$crate" --version "=$version" --root .tools --target-dir .tools/target --force "$@" \
    >"$LOG/$crate.log" 2>&1 || { tail -n 40 "$LOG/$crate.log"; fail "cargo install $crate failed; its whole output is in .tools/log."; }
}

rust_tools() {
  # worker-build can download things with the system's OpenSSL, though here it never does. Where OpenSSL's
  # headers are missing, one is compiled with it.
  local openssl="--locked"
  if [ "$(uname)" = Linux ] && ! pkg-config --exists openssl 2>/dev/null && [ -z "${OPENSSL_DIR:-}" ]; then
    openssl="--features ureq/vendored"
  fi
  # shellcheck disable=SC2086  # two words where it is two words
  rust_tool worker-build $WORKER_BUILD_VERSION $openssl
  # Its own lock file pins a crate that was withdrawn, hence no --locked.
  rust_tool wasm-bindgen-cli "$WASM_BINDGEN_VERSION" --no-default-features
  rm -rf .tools/target
}

rust
# Downloading and compiling go side by side: one waits for the network, the other for the processor.
npm_packages &
npm=$!
rust_tools
wait $npm
