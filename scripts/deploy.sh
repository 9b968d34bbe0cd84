#!/usr/bin/env bash
# Checks the configuration, brings the D1 database up to date, deploys. Stops at the first that fails. CONFIG names another file
# than the one that wrangler would take, and ENV an environment of it.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

place="top level" # as the check calls the deployment
options=()
if [ -n "${CONFIG:-}" ]; then options+=(--config "$CONFIG"); fi
if [ -n "${ENV:-}" ]; then
  options+=(--env "$ENV")
  place="env.$ENV"
fi

report=$(scripts/check.sh ${CONFIG:+"$CONFIG"})
printf '%s\n' "$report"
of_this=$(awk -v place="$place:" 'index($0, place) == 1' <<<"$report")
[ -n "$of_this" ] || fail "There is no [$place] to deploy."

# What is a warning while one tries things out would make a deployment pointless.
stops=$(grep -E 'warning: (there are no routes|ORIGIN is still|database_id is still)' <<<"$of_this" || true)
[ -z "$stops" ] || fail "" "Not deployed yet:" "$stops"

if [ -z "${CLOUDFLARE_API_TOKEN:-}" ] && wrangler whoami </dev/null 2>&1 | grep -q "not authenticated"; then
  fail "Not logged in to Cloudflare. Run \`npx wrangler login\`, or set CLOUDFLARE_API_TOKEN."
fi
wrangler d1 migrations apply DB --remote ${options[@]+"${options[@]}"}
wrangler deploy ${options[@]+"${options[@]}"}

# Secrets belong to a Worker, so there must be one first.
secrets=$(wrangler secret list ${options[@]+"${options[@]}"} </dev/null 2>/dev/null || true)
if ! grep -qE '"SECRET"|^SECRET\b' <<<"$secrets" && ! grep -q "SECRET is in plain text" <<<"$of_this"; then
  put="npx wrangler secret put SECRET${options[*]:+ ${options[*]}}"
  say "" "There is no SECRET: a person who has the logs can find an address behind a digest by trying all addresses." \
    "This sets a random one; every caller then begins anew, once:  openssl rand -base64 32 | $put"
  answer=""
  if [ -t 0 ]; then read -r -p "Set a random one now? [y/N] " answer; fi
  case $answer in
    [yY]*) head -c 32 /dev/urandom | base64 | wrangler secret put SECRET ${options[@]+"${options[@]}"} ||
      say "It could not be set; all else is deployed." ;;
  esac
fi

if grep -q ': advice: .*ORIGIN_SECRET' <<<"$of_this" && ! grep -qE '"ORIGIN_SECRET"|^ORIGIN_SECRET\b' <<<"$secrets"; then
  put="npx wrangler secret put ORIGIN_SECRET${options[*]:+ ${options[*]}}"
  say "" "There is no ORIGIN_SECRET: unless something else locks the origin, callers who find its address go around every limit." \
    "This prints and sets one, for the origin to ask for (docs/origin.md):  openssl rand -base64 32 | tee /dev/stderr | $put"
fi
