#!/usr/bin/env bash
# Checks the configuration, brings the D1 database up to date, deploys. Stops at the first that fails.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

if grep -qE '^database_id *= *"0{8}-' wrangler.toml; then
  fail "wrangler.toml: database_id is still the placeholder. Run \`npx wrangler d1 create penstock\` and put the id it prints there."
fi
if grep -qE '^ORIGIN *= *"https://origin\.example\.com"' wrangler.toml; then
  fail "wrangler.toml: ORIGIN is still the placeholder. Set it to your server, or remove it where a zone's route is used."
fi
# A `route` within a table is a limit's; the Worker's own stand above the first table, or are tables themselves.
own_routes='/^ *\[\[routes\]\]/ { found = 1 } /^ *\[/ { table = 1 } !table && /^ *routes? *=/ { found = 1 } END { exit !found }'
if ! awk "$own_routes" wrangler.toml; then
  fail "wrangler.toml: there are no routes, so nothing would reach the Worker. Uncomment one of the two ways at its top."
fi
scripts/check.sh
if [ -z "${CLOUDFLARE_API_TOKEN:-}" ] && wrangler whoami </dev/null 2>&1 | grep -q "not authenticated"; then
  fail "Not logged in to Cloudflare. Run \`npx wrangler login\`, or set CLOUDFLARE_API_TOKEN."
fi
wrangler d1 migrations apply DB --remote
wrangler deploy
