// `make deploy` stops before it touches anything where the configuration is not yet the operator's own, and says how to
// set a SECRET where there is none. The check and wrangler are stand-ins here.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

const ROOT = join(import.meta.dirname, "../..");

const GOOD = "top level:\n  LIMIT\nevery request\n  base/ip\n\nenv.staging:\n  LIMIT\nevery request\n  base/ip\n";

/**
 * Runs `scripts/deploy.sh` where the check prints `report`, and wrangler's `secret list` prints `secrets`.
 *
 * @returns `{ status, printed, calls }`: the calls of check and wrangler, one a line
 */
async function deploy({ report = GOOD, checked = 0, secrets = "[]", failing = "", env = {} } = {}) {
  const folder = await mkdtemp(join(tmpdir(), "penstock-deploy-"));
  const program = async (file, lines) => {
    await writeFile(join(folder, file), ["#!/usr/bin/env bash", ...lines, ""].join("\n"));
    await chmod(join(folder, file), 0o755);
  };
  try {
    await mkdir(join(folder, "scripts"));
    await mkdir(join(folder, "node_modules/.bin"), { recursive: true });
    for (const file of ["env.sh", "deploy.sh"]) await cp(join(ROOT, "scripts", file), join(folder, "scripts", file));
    await cp(join(ROOT, "Cargo.lock"), join(folder, "Cargo.lock"));
    await writeFile(join(folder, "report"), report);
    await program("scripts/check.sh", ['echo "check $*" >>calls', "cat report", `exit ${checked}`]);
    const words = ['echo "wrangler $*" >>calls', `case "$*" in "secret list"*) echo '${secrets}';; ${failing || "never"}*) exit 1;; esac`];
    await program("node_modules/.bin/wrangler", words);
    const { status, stdout, stderr } = spawnSync("bash", ["scripts/deploy.sh"], {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, CLOUDFLARE_API_TOKEN: "", CONFIG: "", ENV: "", ...env },
    });
    const calls = await readFile(join(folder, "calls"), "utf8").catch(() => "");
    return { status, printed: `${stdout}${stderr}`, calls: calls.replace(/\n$/, "").split("\n") };
  } finally {
    await rm(folder, { recursive: true });
  }
}

const ALL = ["check ", "wrangler whoami", "wrangler d1 migrations apply DB --remote", "wrangler deploy", "wrangler secret list"];

test("a finished configuration is checked, migrated and deployed", async () => {
  const { status, calls } = await deploy();
  assert.deepEqual([status, calls], [0, ALL]);
});

for (const placeholder of [
  "there are no routes, so once it is deployed nothing will reach the Worker",
  "ORIGIN is still the example's",
  "database_id is still the example's: …",
]) {
  test(`stops where ${placeholder.split(/[,:]/)[0]}`, async () => {
    const { status, printed, calls } = await deploy({ report: `${GOOD}top level: warning: ${placeholder}\n` });
    assert.deepEqual([status, calls], [1, ["check "]]);
    assert.match(printed, /Not deployed yet:\ntop level: warning: /);
  });
}

test("stops at a fault, and at a migration that fails", async () => {
  assert.deepEqual((await deploy({ checked: 1 })).calls, ["check "]);
  const { status, calls } = await deploy({ failing: '"d1 migrations"' });
  assert.deepEqual([status, calls], [1, ALL.slice(0, 3)]);
});

test("CONFIG and ENV are handed to each step, and only that environment's placeholders count", async () => {
  const report = `${GOOD}top level: warning: ORIGIN is still the example's\n`;
  const { status, calls } = await deploy({ report, env: { CONFIG: "my wrangler.jsonc", ENV: "staging" } });
  const options = " --config my wrangler.jsonc --env staging";
  const expected = ["check my wrangler.jsonc", "wrangler whoami", ...ALL.slice(2).map((call) => call + options)];
  assert.deepEqual([status, calls], [0, expected]);
  assert.equal((await deploy({ report: `${GOOD}env.staging: warning: there are no routes\n`, env: { ENV: "staging" } })).status, 1);
});

test("an environment that is not there is no deployment", async () => {
  const { status, printed, calls } = await deploy({ env: { ENV: "prod" } });
  assert.deepEqual([status, calls], [1, ["check "]]);
  assert.match(printed, /There is no \[env\.prod\] to deploy\./);
});

test("a missing SECRET is told of, with the way to set it, and stops nobody", async () => {
  const missing = await deploy({ env: { ENV: "staging" } });
  assert.equal(missing.status, 0);
  assert.match(missing.printed, /There is no SECRET: .*\n.*wrangler secret put SECRET --env staging/);
  const unknown = await deploy({ failing: '"secret list"' });
  assert.equal(unknown.status, 0);
  for (const options of [
    { secrets: '[{ "name": "SECRET", "type": "secret_text" }]' },
    { report: `${GOOD}top level: warning: SECRET is in plain text here; …\n` },
  ]) {
    assert.doesNotMatch((await deploy(options)).printed, /There is no SECRET/);
  }
});

test("a missing ORIGIN_SECRET is told of, where there is an ORIGIN, and nothing is made up for the origin", async () => {
  const report = `${GOOD}top level: advice: … \`wrangler secret put ORIGIN_SECRET\` …\n`;
  const secrets = '[{ "name": "SECRET", "type": "secret_text" }]';
  const missing = await deploy({ report, secrets });
  assert.deepEqual([missing.status, missing.calls], [0, ALL]);
  assert.match(missing.printed, /There is no ORIGIN_SECRET: .*\n.*docs\/origin\.md.*wrangler secret put ORIGIN_SECRET/);
  assert.doesNotMatch(missing.printed, /There is no SECRET/);
  const both = '[{ "name": "SECRET" }, { "name": "ORIGIN_SECRET" }]';
  for (const options of [{ report, secrets: both }, { secrets }]) {
    assert.doesNotMatch((await deploy(options)).printed, /There is no ORIGIN_SECRET/);
  }
});
