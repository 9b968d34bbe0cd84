// `make deploy` stops before it touches anything where wrangler.toml is not yet the operator's own.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

const ROOT = join(import.meta.dirname, "../..");

/** The first line that `scripts/deploy.sh` prints for the shipped wrangler.toml, edited by `edit`. */
async function deploy(edit) {
  const folder = await mkdtemp(join(tmpdir(), "penstock-deploy-"));
  try {
    await mkdir(join(folder, "scripts"));
    for (const file of ["env.sh", "deploy.sh"]) await cp(join(ROOT, "scripts", file), join(folder, "scripts", file));
    // The next step after the guards: it must be reached by a finished configuration alone.
    await writeFile(join(folder, "scripts/check.sh"), "echo reached the check; exit 1\n", { mode: 0o755 });
    await cp(join(ROOT, "Cargo.lock"), join(folder, "Cargo.lock"));
    await writeFile(join(folder, "wrangler.toml"), edit(await readFile(join(ROOT, "wrangler.toml"), "utf8")));
    const { status, stdout, stderr } = spawnSync("bash", ["scripts/deploy.sh"], { cwd: folder, encoding: "utf8" });
    assert.equal(status, 1);
    return `${stdout}${stderr}`.split("\n")[0];
  } finally {
    await rm(folder, { recursive: true });
  }
}

const withId = (text) => text.replace(/^database_id = ".*"/m, 'database_id = "0a1b2c3d-0000-4000-8000-000000000000"');
const withOrigin = (text) => text.replace("https://origin.example.com", "https://origin.example.org");

test("the shipped file stops at its placeholder of a database", async () => {
  assert.match(await deploy((text) => text), /^wrangler\.toml: database_id is still the placeholder/);
});

test("a database alone stops at the placeholder of an origin", async () => {
  assert.match(await deploy(withId), /^wrangler\.toml: ORIGIN is still the placeholder/);
});

test("a limit's route is none of the Worker's own", async () => {
  const message = await deploy((text) => withOrigin(withId(text)));
  assert.match(message, /^wrangler\.toml: there are no routes/);
});

test("routes of either form go on to the check", async () => {
  const finished = (text) => withOrigin(withId(text));
  const line = (text) => `routes = [{ pattern = "api.example.com", custom_domain = true }]\n${finished(text)}`;
  const table = (text) => `${finished(text)}\n[[routes]]\npattern = "api.example.com"\ncustom_domain = true\n`;
  assert.equal(await deploy(line), "reached the check");
  assert.equal(await deploy(table), "reached the check");
});
