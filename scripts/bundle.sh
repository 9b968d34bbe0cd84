#!/usr/bin/env bash
# What worker-build runs as its bundler: puts our entry in place of its own, and bundles. A warning of the bundler fails the build:
# wrangler bundles the result once more, and would say it again to everybody who deploys.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

cp "$root/src/entry.js" shim.js
node "$root/scripts/import-once.mjs" index.js
status=0
words=$("$root/node_modules/.bin/esbuild" --color=false "$@" 2>&1) || status=$?
printf '%s\n' "$words" >&2
if grep -q '\[WARNING\]' <<<"$words"; then
  echo "The bundler warns, and a deployment would repeat it." >&2
  status=1
fi
exit $status
