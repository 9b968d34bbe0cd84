#!/usr/bin/env bash
# Every check and every test, each step timed. Goes on past a failed step, so that one run tells all. The last line
# sums up what the test runners counted; a step that failed without counting counts as one failure.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

LOG=$ROOT/target/test.log
passed=0
failed=0
report=""
mkdir -p target

# Runs one step: what it is, then the command. Reads off what its runner counted, if it is a runner.
step() {
  local title=$1 began=$SECONDS status=0 pass=0 fail=0
  shift
  say "" "── $title"
  "$@" 2>&1 | tee "$LOG" || status=1

  # Cargo's and wasm-bindgen's runners print `test result: ok. 3 passed; 0 failed; …`, Node's `# pass 3`.
  read -r pass fail <<<"$(awk '
    { gsub(/\033\[[0-9;]*m/, "") }
    /^test result: / { for (i = 1; i < NF; i++) { if ($(i + 1) == "passed;") p += $i; if ($(i + 1) == "failed;") f += $i } }
    /^(#|ℹ) pass [0-9]+$/ { p += $3 }
    /^(#|ℹ) (fail|cancelled) [0-9]+$/ { f += $3 }
    END { print p + 0, f + 0 }' "$LOG")"
  if [ $status != 0 ] && [ "$fail" = 0 ]; then fail=1; fi
  if [ $status = 0 ] && [ "$fail" != 0 ]; then status=1; fi
  passed=$((passed + pass))
  failed=$((failed + fail))
  report+=$(printf '%-6s %4d s  %s' "$([ $status = 0 ] && echo ok || echo FAILED)" $((SECONDS - began)) "$title")
  [ "$pass$fail" = 00 ] || report+=": $pass passed, $fail failed"
  report+=$'\n'
  return 0
}

# A step that has to run tests: none at all is a failure.
runner() {
  local before=$((passed + failed))
  step "$@"
  if [ $((passed + failed)) = "$before" ]; then
    failed=$((failed + 1))
    report+="FAILED         $1: it ran no test"$'\n'
  fi
}

# The files of a suite. A folder without any fails here: its runner would count nothing, or other tests alone.
suite() {
  local files
  files=$(find "$1" -name "$2" | sort)
  [ -n "$files" ] || fail "$1 holds no test."
  printf '%s\n' "$files"
}

house_tests() {
  suite tests/house '*.test.mjs' | xargs -r node --test --test-reporter=spec
}

native_tests() {
  suite tests/native '*.rs' >/dev/null && cargo test --quiet
}

wasm_tests() {
  suite tests/wasm '*.rs' >/dev/null || return 1
  CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER="$ROOT/.tools/bin/wasm-bindgen-test-runner" WASM_BINDGEN_USE_JS_SYS=1 \
    cargo test --target $WASM --test wasm
}

# Fails on a warning as well: each deployment would show it again.
dry_run() {
  local words status=0
  words=$(CLOUDFLARE_API_TOKEN="" NO_COLOR=1 wrangler deploy --dry-run --outdir target/dry-run 2>&1) || status=$?
  printf '%s\n' "$words"
  [ $status = 0 ] && ! grep -q 'WARNING' <<<"$words"
}

edge_tests() {
  suite tests/edge '*.test.*js' | xargs -r node --test --test-concurrency=2 --test-reporter=spec
}

step "Format" cargo fmt --check
step "Clippy, for the host and for wasm (a minute or two the first time)" scripts/clippy.sh
step "Invariants" node scripts/invariants.mjs
runner "Tests of the invariants: each rule, broken" house_tests
runner "Native tests (a minute or two the first time)" native_tests
runner "Tests in wasm, under Node (a minute or two the first time)" wasm_tests
step "Release build" scripts/build.sh
step "wrangler deploy --dry-run" dry_run
step "make check" scripts/check.sh
runner "Tests at the edge: the built Worker in workerd" edge_tests

say "" "$report"
say "$passed passed, $failed failed"
[ $failed = 0 ]
