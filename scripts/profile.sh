#!/usr/bin/env bash
# Measures where a request's processor time goes, and writes docs/profile.md. Run it on an idle machine; it takes about five minutes.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

scripts/build.sh
bench/passthrough.sh
exec node bench/profile.mjs
