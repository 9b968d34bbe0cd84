#!/usr/bin/env bash
# Builds, then runs Penstock under `wrangler dev` in front of the demo origin until Ctrl-C.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

scripts/build.sh
exec node scripts/demo/dev.mjs
