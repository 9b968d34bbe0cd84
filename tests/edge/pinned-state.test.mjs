// State that earlier versions have stored, found again after an upgrade. The archives are made by
// pinned/make.mjs, and never changed.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { count, HOUR, inTurn, MINUTE, NOON, problem, refusal, ROOT, SECOND, start } from "./harness/index.mjs";
import { FIVE, HOT, other, VARS, who } from "./pinned/limits.mjs";

/** The archive of the first pinned state, and when it was stored. */
const FIRST = { file: join(ROOT, "tests/data/stored-state-1.tar.gz"), migrations: 1 };
const AT = NOON + 500;

/** Starts an edge on the pinned state, under the configuration that it was stored with. */
const upgrade = (t, vars = {}) => start(t, { stored: FIRST, at: AT, vars: { ...VARS, ...vars } });

/** How many of `n` requests for `path` pass. */
const passing = async (edge, n, path, caller = who) => count(await inTurn(n, () => edge.get(path, caller)), 200);

test("CFG-10: an upgrade with an unchanged configuration loses no count", async (t) => {
  const edge = await upgrade(t);
  for (const path of FIVE) assert.equal(await passing(edge, 3, path), 1, `${path}: four of five were counted`);
  for (const path of ["/all", "/all-two", "/all-day"]) assert.equal(await passing(edge, 1, path, other), 0, path);
  for (const path of ["/ip", "/key", "/day", "/day-two"]) assert.equal(await passing(edge, 6, path, other), 5, path);
  const hot = await passing(edge, 600, "/hot");
  // An isolate had up to an eighth of the bucket in hand, and the row was an eighth ahead.
  assert.ok(hot <= 600 - HOT && hot >= (600 - HOT) * (3 / 4), `${hot} of the ${600 - HOT} that are left`);
});

test("CFG-10: counts of an earlier version are counted once, over further restarts", async (t) => {
  const edge = await upgrade(t);
  for (const path of FIVE) assert.equal(await passing(edge, 3, path), 1, path);
  await edge.restart();
  for (const path of FIVE) assert.equal(await passing(edge, 1, path), 0, path);
  // The 5/h came back to three tokens, the 5/2h to two: a count taken over twice would leave fewer.
  await edge.advance(36 * MINUTE);
  await edge.restart();
  assert.deepEqual([await passing(edge, 5, "/ip"), await passing(edge, 5, "/all")], [3, 3]);
  await edge.advance(12 * MINUTE);
  assert.equal(await passing(edge, 5, "/all-two"), 2);
  await edge.advance(24 * HOUR);
  for (const path of FIVE) assert.equal(await passing(edge, 6, path), 5, path);
});

test("a database that lacks the migration leaves quotas to on_error, and says so", async (t) => {
  const edge = await start(t, { stored: { ...FIRST, migrations: 2 }, at: AT, vars: { ...VARS, BUDGET: null } });
  problem(await edge.get("/all-day", who), { reason: "limiter_unavailable" });
  assert.equal(await passing(edge, 2, "/ip"), 1, "rates hold");
  assert.ok(edge.records.some(({ problem }) => problem?.includes("lacks a migration")));
  // The migration makes the counts of the earlier version whole again.
  await edge.d1("ALTER TABLE quota ADD COLUMN until TEXT");
  await edge.advance(MINUTE);
  assert.equal(await passing(edge, 2, "/all-day"), 1);
});

test("CFG-10: a ramp goes on where an earlier version had it", async (t) => {
  const edge = await upgrade(t);
  // A rate that is open gives the next token within a minute, and one that warms up later.
  const { retry_after } = refusal(await edge.get("/warm", who), { reason: "over_capacity" });
  assert.equal(retry_after, 224);
  await edge.advance(retry_after * SECOND);
  assert.equal(await passing(edge, 3, "/warm"), 1);
});
