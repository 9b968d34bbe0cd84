#!/usr/bin/env bash
# Measures Penstock beside what else there is, on this machine, and writes docs/benchmarks.md. Run it on an idle one; it
# takes about twenty minutes. QUICK=1 takes three, and writes into target/ alone. PARTS=real,distance measures these parts
# alone; LOG=access.log measures the traffic of an access log, and nothing else.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

scripts/build.sh
bench/passthrough.sh
case "${LOG:+log},${PARTS:-decision}," in
  log,*) ;;
  *,decision,*)
    say "One decision, natively (compiles with optimisation, a minute the first time)."
    cargo bench --quiet --bench decision | tee target/decision.txt
    ;;
esac
exec node bench/run.mjs
