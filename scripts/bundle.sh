#!/usr/bin/env bash
# What worker-build runs as its bundler: puts our entry in place of its own, and bundles.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cp "$root/src/entry.js" shim.js
exec "$root/node_modules/.bin/esbuild" "$@"
