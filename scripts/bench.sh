#!/usr/bin/env bash
# Measures Penstock beside what else there is, on this machine, and writes docs/benchmarks.md. Run it on an idle one; it
# takes about ten minutes. QUICK=1 takes two, and writes into target/ alone.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

scripts/build.sh
bench/passthrough.sh
say "One decision, natively (compiles with optimisation, a minute the first time)."
cargo bench --quiet --bench decision | tee target/decision.txt
exec node bench/run.mjs
