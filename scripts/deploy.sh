#!/usr/bin/env bash
# Checks the configuration, brings the D1 database up to date, deploys. Stops at the first that fails.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

if grep -qE '^database_id *= *"0{8}-' wrangler.toml; then
  fail "wrangler.toml: database_id is still the placeholder. Run \`npx wrangler d1 create penstock\` and put the id it prints there."
fi
scripts/check.sh
wrangler d1 migrations apply DB --remote
wrangler deploy
