#!/usr/bin/env bash
# Runs real SDKs and applications against the built Worker: each program in scripts/clients/. They download what they need into
# target/clients, and each writes its figures to a page of docs/.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

failed=()
for program in scripts/clients/*.sh scripts/clients/*.mjs; do
  [ -f "$program" ] || continue
  say "" "── $program"
  case $program in
    *.sh) bash "$program" ;;
    *.mjs) node "$program" ;;
  esac || failed+=("$program")
done
[ ${#failed[@]} = 0 ] || fail "" "Failed: ${failed[*]}"
