// Leases, remembered denials and prepaid quota: a fast caller costs few calls, and the limits hold.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { count, inTurn, MINUTE, parallel, SECOND, start, usedQuota } from "./harness/index.mjs";

const FOUR = {
  LIMIT_BASE: { per_ip: "60000/min", global: "5000/s" },
  LIMIT_API: { route: "/api", per_key: ["1000/s", "100000/day"] },
};
const who = { ip: "203.0.113.7", key: "k" };
/** Sends `requests`, `perTick` at a time and `tick` milliseconds apart; returns how many passed. */
async function traffic(edge, { requests, perTick, tick, ask }) {
  let passed = 0;
  for (let sent = 0; sent < requests; sent += perTick) {
    const answers = await parallel(perTick, (index) => ask(sent + index));
    passed += count(answers, 200);
    await edge.advance(tick);
  }
  return passed;
}

test("a hot caller of four limits costs few calls and fewer statements, and all its requests pass", async (t) => {
  const edge = await start(t, { vars: { ...FOUR, TRACE: "header" } });
  let rows = 0;
  const ask = async () => {
    const answer = await edge.get("/api", who);
    rows += Number(/rows=(\d+)/.exec(answer.headers["penstock-trace"])[1]);
    return answer;
  };
  assert.equal(await traffic(edge, { requests: 2_000, perTick: 4, tick: 20, ask }), 2_000);
  const asked = await edge.asked();
  t.diagnostic(`${asked.calls} actor calls, ${asked.d1} statements, ${rows} rows on the requests' path`);
  assert.ok(asked.calls <= 120, `${asked.calls} actor calls for 2,000 requests`);
  assert.ok(asked.d1 <= 50, `${asked.d1} statements for 2,000 requests`);
  assert.ok(rows <= 100, `${rows} rows for 2,000 requests`);
});

test("a slow caller's requests are counted one by one", async (t) => {
  const edge = await start(t, { vars: FOUR });
  for (let sent = 1; sent <= 12; sent++) {
    assert.equal((await edge.get("/api", who)).status, 200);
    assert.equal(await usedQuota(edge), sent);
    await edge.advance(10 * SECOND);
  }
  assert.equal((await edge.asked()).calls, 36, "an address, a key and everyone, each time");
});

test("quota that a caller has stopped using goes back to D1", async (t) => {
  const edge = await start(t, { vars: { LIMIT_API: { route: "/api", per_key: "100000/day" } } });
  const passed = await traffic(edge, { requests: 400, perTick: 4, tick: 20, ask: () => edge.get("/api", who) });
  assert.equal(passed, 400);
  assert.ok((await usedQuota(edge)) > 400, "some quota is prepaid");
  // The isolate returns idle tokens once a second of real time, and the actor at its alarm.
  for (let look = 0; look < 10 && (await usedQuota(edge)) > 400; look++) {
    await edge.advance(6 * SECOND);
    await sleep(500);
    await edge.alarms();
  }
  assert.equal(await usedQuota(edge), 400);
});

test("hot traffic uses up a quota almost to its last token, and no further", async (t) => {
  const edge = await start(t, { vars: { LIMIT_API: { route: "/api", per_key: "500/day" } }, isolates: 2 });
  const ask = (index) => edge.get("/api", { ...who, isolate: index % 2 });
  const passed = await traffic(edge, { requests: 1_200, perTick: 4, tick: 20, ask });
  assert.ok(passed <= 500, `${passed} of 500`);
  assert.ok(passed >= 485, `${passed} of 500: only tokens that an isolate holds may be left`);
  assert.ok((await usedQuota(edge)) <= 500);
});

test("a refused caller is answered from memory until the time it was told", async (t) => {
  const edge = await start(t, { vars: { LIMIT_LOGIN: { route: "/login", per_ip: "5/min" } } });
  await inTurn(6, () => edge.get("/login", who));
  const before = await edge.asked();
  const flood = await parallel(200, () => edge.get("/login", who));
  assert.equal(count(flood, 429), 200);
  assert.equal((await edge.asked()).calls, before.calls);
  await edge.advance(4_500);
  assert.equal((await edge.get("/login", who)).headers["retry-after"], "8", "it counts down");
  await edge.advance(7_500);
  assert.equal((await edge.get("/login", who)).status, 200);
});

test("a request that is refused from memory for its key still counts for its address", async (t) => {
  const edge = await start(t, { vars: { LIMIT_API: { route: "/api", per_ip: "20/min", per_key: "5/min" } } });
  await inTurn(15, () => edge.get("/api", who));
  const others = await inTurn(20, (index) => edge.get("/api", { ...who, key: `other-${index}` }));
  assert.equal(count(others, 200), 5);
});

test("two isolates with twice the requests of a shared limit use nearly all of it, and no more", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { route: "/*", global: "400/s" } }, isolates: 2 });
  const ask = (index) => edge.get("/", { ip: `203.0.113.${index % 100}`, isolate: index % 2 });
  const first = await traffic(edge, { requests: 1_600, perTick: 16, tick: 20, ask });
  assert.ok(first <= 400 + 400 * 2, `${first} in two seconds, the burst included`);
  const then = await traffic(edge, { requests: 4_000, perTick: 16, tick: 20, ask });
  t.diagnostic(`${then} of ${400 * 5} in the five seconds after`);
  assert.ok(first + then <= 400 + 400 * 7, `${first} and ${then} in seven seconds`);
  assert.ok(then >= 0.97 * 400 * 5, `${then} of ${400 * 5}`);
});

test("crashes in the middle of hot traffic admit no more than a shared limit allows", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { route: "/*", global: "200/s" } } });
  const ask = (index) => edge.get("/", { ip: `203.0.113.${index % 100}` });
  let passed = 0;
  for (let round = 0; round < 5; round++) {
    passed += await traffic(edge, { requests: 200, perTick: 10, tick: 10, ask });
    await edge.crash();
  }
  assert.ok(passed <= 200 + 200, `${passed} in a second, of a burst of 200 and as many again`);
});

test("a deploy forgives no debt with DURABLE_AFTER = 0s", async (t) => {
  const edge = await start(t, { vars: { DURABLE_AFTER: "0s", LIMIT_X: { route: "/x", per_ip: "10/s burst 20" } } });
  let passed = 0;
  for (let round = 0; round < 4; round++) {
    passed += count(await parallel(30, () => edge.get("/x", who)), 200);
    await edge.restart();
  }
  assert.equal(passed, 20);
  await edge.advance(MINUTE);
  assert.equal(count(await parallel(30, () => edge.get("/x", who)), 200), 20);
});
