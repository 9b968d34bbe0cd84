// Stores state with the build at hand, and packs it:
//
//   node tests/edge/pinned/make.mjs tests/data/stored-state-1.tar.gz
//
// A pinned state is what some version has left behind, so a file is made once and never again. A
// version that stores another form gets a file with the next number.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import process from "node:process";
import { start } from "../harness/index.mjs";
import { FIVE, HOT, spend, VARS, WARM } from "./limits.mjs";

const [file] = process.argv.slice(2);
if (!file || existsSync(file)) {
  console.error(file ? `${file} is there, and no pinned state is made twice` : "usage: make.mjs FILE");
  process.exit(2);
}

const cleanups = [];
const edge = await start({ after: (cleanup) => cleanups.push(cleanup) }, { vars: VARS });
try {
  const passed = await spend(edge);
  assert.deepEqual(passed, { ...Object.fromEntries(FIVE.map((path) => [path, 4])), "/warm": WARM, "/hot": HOT });
  console.log("stored at", new Date(edge.at).toISOString());
  for (const { name, tables } of await edge.objects()) console.log(name, JSON.stringify(tables));
  console.log(JSON.stringify(await edge.d1("SELECT * FROM quota")));
  await edge.stop();
  const archived = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--exclude=*-shm"];
  execFileSync("tar", [...archived, "-czf", file, "-C", edge.state, "d1", "do"]);
} finally {
  for (const cleanup of cleanups) await cleanup();
}
