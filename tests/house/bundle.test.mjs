// The bundler's warnings: the glue as wasm-bindgen writes it gives none, and any that there is fails the build. `scripts/bundle.sh` is
// run as worker-build runs it, with the real bundler.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

const ROOT = join(import.meta.dirname, "../..");

/** The glue's form: a module is imported once for each function that needs no glue of its own. */
const GLUE = `
import { call } from './a.js';
import * as import1 from "./b.js"
import * as import2 from "./a.js"
import * as import3 from "./b.js"
import * as import4 from "./b.js"
export function imports() {
    return {
        __proto__: null,
        "./b.js": import1,
        "./a.js": import2,
        "./b.js": import3,
        "./b.js": import4,
    };
}
export const own = call();
`;

const ARGUMENTS = ["--format=esm", "--bundle", "./index.js", "--outfile=bundled.mjs"];

/** Bundles `glue`. Returns the status, the words of the bundler, and what the bundle exports. */
async function bundle(glue) {
  const folder = await mkdtemp(join(tmpdir(), "penstock-bundle-"));
  try {
    const write = (name, text) => writeFile(join(folder, name), text);
    await Promise.all([
      write("index.js", glue),
      write("a.js", "export const call = () => 1;\n"),
      write("b.js", "export const one = 1, two = 2;\n"),
    ]);
    const run = spawnSync(join(ROOT, "scripts/bundle.sh"), ARGUMENTS, { cwd: folder, encoding: "utf8" });
    const bundled = join(folder, "bundled.mjs");
    const there = await readFile(bundled).catch(() => undefined);
    return { status: run.status, words: run.stderr, exports: there && (await import(pathToFileURL(bundled))) };
  } finally {
    await rm(folder, { recursive: true });
  }
}

test("BLD-10: a module that is imported three times gives no warning, and is there for each", async () => {
  const { status, words, exports } = await bundle(GLUE);
  assert.equal(status, 0, words);
  assert.doesNotMatch(words, /WARNING/);
  const { "./a.js": a, "./b.js": b, ...rest } = exports.imports();
  assert.deepEqual([a.call(), b.one, b.two, rest, exports.own], [1, 1, 2, {}, 1]);
});

test("BLD-10: a warning of any kind fails the build, and is shown", async () => {
  const { status, words } = await bundle(`${GLUE}\nexport const twice = { key: 1, key: 2 };\n`);
  assert.equal(status, 1);
  assert.match(words, /WARNING.*Duplicate key "key"/);
});

test("BLD-10: an error of the bundler fails the build", async () => {
  const { status, words } = await bundle("export const = 1;\n");
  assert.equal(status, 1);
  assert.match(words, /ERROR/);
});
