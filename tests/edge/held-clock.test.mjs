// The held clock of the benchmarks: time passes by it alone, and calls, rows and journeys are
// counted on it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { DISTANCE, FINE, NEAR, run, summary } from "../../bench/held-run.mjs";
import { requestOf } from "../../bench/traffic/mixes.mjs";
import { VARIANTS } from "../../bench/variants.mjs";

const variant = (id, vars) => {
  const found = VARIANTS.find((variant) => variant.id === id);
  return { ...found, worker: { ...found.worker, vars } };
};
const request = (at, { ip = "198.51.100.7", key, isolate = 0 } = {}) => ({ at, isolate, request: requestOf({ method: "GET", path: "/v1/items" }, ip, key) });
const options = { isolates: 2, distance: DISTANCE, tick: FINE };
const statuses = ({ answers }) => answers.map(({ status }) => status);
const times = ({ answers }) => answers.map(({ ms }) => ms);

test("a bucket regains its token by the held clock, and each call takes its time on it", async () => {
  const begun = performance.now();
  const done = await run(variant("object-memory", { LIMIT: 1, PERIOD: 600 }), [0, 1_000, 599_000, 601_000].map((at) => request(at)), options);
  assert.ok(performance.now() - begun < 60_000, "ten minutes are not waited for");
  // The bucket that nobody asks for ten seconds forgets its debt.
  assert.deepEqual(statuses(done), [200, 429, 200, 429]);
  assert.deepEqual(times(done), [20, 20, 20, 20]);
  assert.deepEqual([done.counts.actors, done.counts.d1, done.counts.rows], [4, 0, 0]);
  const kept = await run(variant("object-memory", { LIMIT: 1, PERIOD: 8 }), [0, 4_000, 8_100].map((at) => request(at)), options);
  assert.deepEqual(statuses(kept), [200, 429, 200]);
});

test("a statement to D1 takes its time, from a Worker and from an object at another isolate", async () => {
  const events = [request(0, { key: "a" }), request(5_000, { key: "b", isolate: 1 }), request(5_000, { key: "c", isolate: 1 })];
  const worker = await run(variant("d1", { LIMIT: 9, PERIOD: 60 }), events, options);
  assert.deepEqual([statuses(worker), times(worker), worker.counts.d1], [[200, 200, 200], [30, 30, 30], 3]);
  const actor = await run(variant("penstock", { LIMIT_BASE: { per_key: "1000/day" } }), events, options);
  assert.deepEqual([statuses(actor), times(actor)], [[200, 200, 200], [50, 50, 50]]);
  const near = await run(variant("penstock", { LIMIT_BASE: { per_key: "1000/day" } }), events, { ...options, distance: NEAR });
  assert.deepEqual(times(near), [0, 0, 0]);
});

test("an alarm goes off by the held clock, and is counted as a call", async () => {
  const hono = variant("hono", { LIMIT: 1, PERIOD: 60 });
  const done = await run(hono, [0, 30_000, 61_000].map((at) => request(at)), options);
  assert.deepEqual(statuses(done), [200, 429, 200]);
  assert.deepEqual([done.counts.actors, done.counts.alarms], [4, 1]);
});

test("work after the answer is done before the clock goes on, and the same traffic costs the same again", async () => {
  const events = Array.from({ length: 300 }, (_, n) => request(n * 100, { ip: `198.51.100.${n % 3}`, isolate: n % 2 }));
  const penstock = variant("penstock", { LIMIT_BASE: { per_ip: "20/s burst 100", global: "1000/s" } });
  const runs = [await run(penstock, events, options), await run(penstock, events, options)];
  const [one, other] = runs.map(({ answers, counts }) => ({ ...summary(answers), actors: counts.actors }));
  assert.deepEqual(one.statuses, { 200: 300 });
  assert.deepEqual(other.statuses, { 200: 300 });
  assert.ok(one.actors > 3 && Math.abs(one.actors - other.actors) <= 0.05 * one.actors, `${one.actors} and ${other.actors} calls`);
});
