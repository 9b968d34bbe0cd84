// Shares of a crowded shared rate among its callers.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inTurn, refusal, start } from "./harness/index.mjs";

/**
 * For so many seconds twenty callers send one request in 200 ms each, and a greedy one 60 in 100
 * ms.
 */
async function crowd(edge, seconds, greedy = "198.51.100.1") {
  const modest = { asked: 0, passed: 0 };
  const much = { asked: 0, passed: 0 };
  let last;
  for (let tenth = 0; tenth < seconds * 10; tenth++) {
    await edge.advance(100);
    for (let caller = 0; caller < 20; caller++) {
      for (const answer of await inTurn(3, () => edge.get("/", { ip: greedy }))) {
        much.asked++;
        if (answer.status === 200) much.passed++;
        else last = answer;
      }
      if ((tenth + caller) % 2) continue;
      modest.asked++;
      modest.passed += Number((await edge.get("/", { ip: `203.0.113.${caller}` })).status === 200);
    }
  }
  return { modest, much, last };
}

test("callers with few requests get all they ask for, and one with very many gets the rest", async (t) => {
  const edge = await start(t, { vars: { LIMIT_BASE: { global: "200/s burst 40" } } });
  await crowd(edge, 4);
  const { modest, much, last } = await crowd(edge, 5);
  t.diagnostic(`${modest.passed} of ${modest.asked} for twenty callers, ${much.passed} of ${much.asked} for one`);
  assert.ok(modest.passed >= 0.95 * modest.asked, `${modest.passed} of ${modest.asked}`);
  assert.ok(modest.passed + much.passed >= 0.95 * 1_000, `${modest.passed + much.passed} of 1000`);
  refusal(last, { reason: "over_capacity", limit: "base/global", scope: "global" }, edge.at);
});

test("a caller's share follows the priority of its requests, whichever came first", async (t) => {
  const route = (path, priority) => ({ route: path, priority });
  const edge = await start(t, { vars: { LIMIT_BASE: { global: "50/s burst 10" }, LIMIT_H: route("/high", "high"), LIMIT_L: route("/low", "low") } });
  const passes = async (path, ip) => (await edge.get(path, { ip })).status === 200;
  await inTurn(40, () => passes("/", "198.51.100.9"));
  const given = { "/low": 0, "/high": 0 };
  const ips = { "/low": "198.51.100.1", "/high": "198.51.100.2" };
  for (const first of Object.keys(given)) await passes(first, ips[first]);
  for (let tenth = 0; tenth < 70; tenth++) {
    await edge.advance(100);
    for (let round = 0; round < 8; round++) {
      for (const first of Object.keys(given)) given[first] += Number((await passes("/high", ips[first])) && tenth >= 30);
    }
  }
  t.diagnostic(`${JSON.stringify(given)}, by the priority of the first request`);
  assert.ok(given["/high"] > 0 && given["/low"] >= 0.75 * given["/high"], JSON.stringify(given));
});
