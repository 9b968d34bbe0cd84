#!/usr/bin/env bash
# Everything at once for a quarter of an hour (MINUTES=15): mixed traffic, evictions, crashes, deploys, and faults of the stores.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

MINUTES=${1:-15}
scripts/build.sh
say "Soaking for so many minutes: $MINUTES."
PENSTOCK_SOAK=$((MINUTES * 60)) exec node --test --test-reporter=spec tests/edge/soak.test.mjs
