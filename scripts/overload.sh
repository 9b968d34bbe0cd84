#!/usr/bin/env bash
# Offers ten times what a cap allows, for a minute (SECONDS), and holds what comes of it against its bars. Run it on an idle machine.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

scripts/build.sh
exec node bench/overload.mjs
