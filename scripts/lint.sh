#!/usr/bin/env bash
# Format, clippy for both targets, and the invariants that no lint can express.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

cargo fmt --check
scripts/clippy.sh
node scripts/invariants.mjs
