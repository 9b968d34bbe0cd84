#!/usr/bin/env bash
# The invariants of ARCHITECTURE.md that no compiler and no lint can express.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

broken=0

# A rule holds where nothing was found against it. `found` is set by an assignment, so that a search that fails
# ends the script and cannot pass for one that found nothing.
found=""
none() {
  if [ -z "$found" ]; then
    say "  holds   $1"
  else
    say "  BROKEN  $1"
    printf '%s\n' "$found" | sed 's/^/            /'
    broken=$((broken + 1))
  fi
}

rust_files() { # folders or files, each of which must be there: a rule about a renamed folder would check nothing
  local place
  for place in "$@"; do
    [ -e "$place" ] || fail "$place is missing: name the rule's folders anew in scripts/invariants.sh."
    find "$place" -name '*.rs'
  done
}

except_clock() {
  { grep -v '^src/runtime/clock\.rs$' || true; }
}

# Lines of the given files (on standard input) that match a pattern, comments aside.
code_lines() {
  tr '\n' '\0' | xargs -0 -r awk -v pattern="$1" '
    { code = $0; sub(/\/\/.*/, "", code) }
    code ~ pattern { print FILENAME ":" FNR ": " $0 }'
}

# The same outside of unit tests: those are the last item of a file (clippy::items_after_test_module sees to it) or a
# file named tests.rs.
shipped_lines() {
  { grep -v '/tests\.rs$' || true; } | tr '\n' '\0' | xargs -0 -r awk -v pattern="$1" '
    FNR == 1 { pending = 0; tests = 0 }
    tests { next }
    /^ *#\[cfg\(test\)\]/ { pending = 1; next }
    pending && /^ *#\[/ { next }
    pending { pending = 0; if ($0 ~ /^ *(pub )?mod /) { tests = 1; next } }
    { code = $0; sub(/\/\/.*/, "", code) }
    code ~ pattern { print FILENAME ":" FNR ": " $0 }'
}

project_files() {
  git ls-files -co --exclude-standard | grep -vE '^(Cargo|package-lock)\.(lock|json)$' | while read -r file; do
    [ ! -f "$file" ] || printf '%s\n' "$file"
  done
}

found=$(rust_files src/limit src/policy src/identity src/protocol src/gate src/concurrency |
  code_lines '(^|[^A-Za-z0-9_])(worker|js_sys|web_sys|wasm_bindgen|wasm_bindgen_futures)(::| *;| as )')
none "limit, policy, identity, protocol, gate and concurrency are pure: they name neither worker nor JavaScript"

found=$(rust_files src | except_clock |
  code_lines '(Date::now|Instant::now|SystemTime|js_sys::Date|Timestamp::now|Zoned::now)')
none "only src/runtime/clock.rs reads a clock"

found=$(rust_files src |
  shipped_lines 'clippy::(unwrap_used|expect_used|panic|unreachable|todo|unimplemented|indexing_slicing|string_slice|arithmetic_side_effects)')
none "nothing that ships is excused from the lints against panics"

found=$(rust_files src | except_clock | shipped_lines 'clippy::disallowed_methods')
none "only src/runtime/clock.rs is excused from the lint against clocks"

found=$(rust_files src/gate src/concurrency src/actor src/ledger src/http src/lib.rs | shipped_lines 'OnError::Local *(=>|[|])')
case "$found" in
  "") found="no match on OnError in src/gate" ;;
  *$'\n'*) ;; # two places decide, which is one too many
  src/gate/*) found="" ;;
esac
none "on_error is decided in exactly one match, in gate"

# A path of someone's own machine, a tracker's number or a registry's host means nothing to a reader.
found=$(project_files | tr '\n' '\0' | { xargs -0 grep -nIE \
  '(^|[^A-Za-z0-9_.*-])/(work|root|Users)/|[Ii]ssue #?[0-9]|(registry|index|static)\.[a-z]+\.(org|io)|deb\.[a-z]+\.org|py[p]i\.org' || true; })
none "no file names someone's machine, a tracker's number or a registry's host"

found=$(grep -n '"resolved": *"http' package-lock.json || true)
none "package-lock.json names no registry"

found=$([ ! -f ARCHITECTURE.md ] || awk 'END { if (NR > 120) print "ARCHITECTURE.md: " NR " lines" }' ARCHITECTURE.md)
none "ARCHITECTURE.md is at most 120 lines"

[ $broken = 0 ] || fail "$broken of these do not hold."
