// Shared rates with `warmup`, which open slowly after a cold start.
import assert from "node:assert/strict";
import { test } from "node:test";
import { count, inTurn, MINUTE, refusal, SECOND, start } from "./harness/index.mjs";

const vars = { LIMIT_BASE: { global: "20/s burst 40", warmup: "30s" } };
const address = (index) => `10.0.${(index >> 8) & 255}.${index & 255}`;

/** How many of `asked` new callers pass, with one request each. */
let callers = 0;
const passing = async (edge, asked) => count(await inTurn(asked, () => edge.get("/", { ip: address(callers++) })), 200);

test("a cold rate admits a tenth at first, more every second, and all of it after warmup", async (t) => {
  const edge = await start(t, { vars });
  assert.equal(await passing(edge, 10), 4, "a tenth of the burst");
  const perSecond = [];
  for (let second = 0; second < 34; second++) {
    await edge.advance(SECOND);
    perSecond.push(await passing(edge, 30));
  }
  t.diagnostic(`admitted in each second: ${perSecond.join(" ")}`);
  const sum = (from, to) => perSecond.slice(from, to).reduce((all, one) => all + one, 0);
  // From 2/s to 20/s in a line: 50 in the first ten seconds, 110 in the next, 170 in the last.
  for (const [from, ramp] of [[0, 50], [10, 110], [20, 170]]) {
    const admitted = sum(from, from + 10);
    assert.ok(admitted <= ramp + 4 && admitted >= ramp * 0.9, `${admitted} of ${ramp} from second ${from}`);
  }
  assert.deepEqual(perSecond.slice(31), [20, 20, 20]);
});

test("the wait that a refusal names during a ramp is true", async (t) => {
  const edge = await start(t, { vars: { LIMIT_BASE: { global: "4/min", warmup: "60s" } } });
  assert.equal((await edge.get("/", { ip: address(1) })).status, 200);
  const { retry_after } = refusal(await edge.get("/", { ip: address(2) }), { reason: "over_capacity" }, edge.at);
  assert.ok(retry_after > 15, `${retry_after} s, and 15 at the full rate`);
  await edge.advance((retry_after - 2) * SECOND);
  assert.equal((await edge.get("/", { ip: address(3) })).status, 429);
  await edge.advance(2 * SECOND);
  assert.equal((await edge.get("/", { ip: address(2) })).status, 200);
});

for (const [what, happens] of [
  ["an eviction", (edge) => edge.evict()],
  ["a crash", (edge) => edge.crash()],
  ["a deploy", (edge) => edge.restart()],
]) {
  test(`${what} in the middle of traffic begins no ramp`, async (t) => {
    const edge = await start(t, { vars });
    await passing(edge, 1);
    for (let times = 0; times < 4; times++) {
      await edge.advance(10 * SECOND);
      await passing(edge, 1);
    }
    await happens(edge);
    await edge.advance(5 * SECOND);
    assert.equal(await passing(edge, 60), 40, "the whole burst");
    await edge.advance(2 * MINUTE);
    assert.equal(await passing(edge, 10), 4, "and after two minutes without a request it is cold");
  });
}

test("a rate that a deploy raises goes on from the old one", async (t) => {
  const edge = await start(t, { vars: { LIMIT_BASE: { global: "5/s burst 5", warmup: "20s" } } });
  for (let times = 0; times < 5; times++) {
    await passing(edge, 10);
    await edge.advance(10 * SECOND);
  }
  await edge.redeploy({ LIMIT_BASE: { global: "20/s burst 20", warmup: "20s" } });
  assert.equal(await passing(edge, 30), 5);
  let admitted = 0;
  for (let second = 0; second < 10; second++) {
    await edge.advance(SECOND);
    admitted += await passing(edge, 30);
  }
  // A quarter of 20/s at first, five eighths after half of the ramp: 87 in these ten seconds.
  assert.ok(admitted <= 90 && admitted >= 78, `${admitted}`);
});

test("a rate with warmup leaves no row behind once it is idle", async (t) => {
  const edge = await start(t, { vars });
  await passing(edge, 3);
  const [{ tables }] = await edge.objects();
  assert.equal(tables.warm.length, 1);
  for (let rounds = 0; rounds < 5; rounds++) {
    await edge.advance(2 * MINUTE);
    if ((await edge.alarms()) === 0) break;
  }
  const [object] = await edge.objects();
  assert.equal(Object.values(object.tables).flat().length, 0);
  assert.equal(object.alarmAt, null);
});

test("a wait as long as a whole ramp is true", async (t) => {
  for (const global of ["2/min", "10/min burst 1"]) {
    const edge = await start(t, { vars: { LIMIT_BASE: { global, warmup: "10min" } } });
    assert.equal((await edge.get("/", { ip: address(1) })).status, 200, global);
    const { retry_after } = refusal(await edge.get("/", { ip: address(2) }), { reason: "over_capacity" }, edge.at);
    await edge.advance(retry_after * SECOND);
    assert.equal((await edge.get("/", { ip: address(2) })).status, 200, `${global} after ${retry_after} s`);
  }
});

test("a deploy that adds a warmup in the middle of traffic begins no ramp", async (t) => {
  const edge = await start(t, { vars: { LIMIT_BASE: { global: "20/s burst 40" } } });
  for (let second = 0; second < 5; second++) {
    await passing(edge, 15);
    await edge.advance(SECOND);
  }
  await edge.redeploy({ LIMIT_BASE: vars.LIMIT_BASE });
  await edge.advance(2 * SECOND);
  assert.equal(await passing(edge, 60), 40, "the whole burst");
  await edge.advance(2 * MINUTE);
  assert.equal(await passing(edge, 10), 4, "and after two minutes without a request it is cold");
});

test("a damaged row of a ramp is corrected within ten minutes", async (t) => {
  const edge = await start(t, { vars });
  assert.equal(await passing(edge, 10), 4);
  const [now, most] = [`${edge.at}000000`, "18446744073709551615"];
  await edge.damage("base/global", `UPDATE warm SET state = '${now} ${most} ${most} 50000000 ${now}'`);
  await edge.evict();
  await edge.advance(SECOND);
  refusal(await edge.get("/", { ip: address(1) }), { reason: "over_capacity" }, edge.at);
  for (let passed = 0; passed < 11; passed++) {
    await edge.advance(MINUTE - SECOND);
    await passing(edge, 1);
  }
  await edge.advance(30 * SECOND);
  assert.equal(await passing(edge, 60), 40, "the rate is open");
});
