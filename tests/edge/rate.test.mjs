// Rolling rates, under a clock that moves only where a test moves it.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { count, HOUR, inTurn, MINUTE, parallel, Random, refusal, SECOND, start } from "./harness/index.mjs";

const vars = {
  LIMIT_FIVE: { route: "/five", per_ip: "5/min" },
  LIMIT_TEN: { route: "/ten", per_ip: "10/min" },
  LIMIT_DAY: { route: "/24h", per_ip: "5/24h" },
  LIMIT_FAST: { route: "/fast", per_ip: "10/s" },
  LIMIT_MONTH: { route: "/month", per_ip: "1/30d" },
  LIMIT_BURST: { route: "/burst", per_ip: "60/min burst 10" },
  LIMIT_HEAVY: { route: "/heavy", per_ip: "10/min", cost: 10 },
  LIMIT_COST: { route: "/cost", per_ip: "10/min", cost: 4 },
  LIMIT_TWO: { route: "/two", per_ip: ["5/s", "8/min"] },
};
const edge = await start({ after }, { vars });

/** A caller of its own for each test, later than the longest period here: 30 days. */
const caller = () => edge.newCaller(1_000 * HOUR);

/** How many of `n` requests in parallel pass. */
async function passing(n, path, who) {
  return count(await parallel(n, () => edge.get(path, who)), 200);
}

test("GCR-01: of six requests at once, a burst of five admits five", async () => {
  assert.equal(await passing(6, "/24h", await caller()), 5);
});

test("GCR-03: a request that costs the whole burst passes on a full bucket", async () => {
  const who = await caller();
  assert.equal((await edge.get("/heavy", who)).status, 200);
  refusal(await edge.get("/heavy", who), { limit: "heavy/ip", retry_after: 60 }, edge.at);
  await edge.advance(MINUTE);
  assert.equal((await edge.get("/heavy", who)).status, 200);
});

test("a request that costs more than is left takes nothing", async () => {
  const who = await caller();
  assert.equal(await passing(5, "/cost", who), 2, "4 + 4 of 10; the 2 that are left are not enough");
  await edge.advance(500);
  refusal(await edge.get("/cost", who), { retry_after: 12 }, edge.at);
  await edge.advance(12 * SECOND);
  assert.equal(await passing(2, "/cost", who), 1);
});

test("GCR-05: a clock that steps back or forward charges no request twice and locks no caller out", async () => {
  const who = await caller();
  const base = edge.at;
  await edge.freeze(base + 100 * SECOND);
  assert.equal(await passing(5, "/five", who), 5);
  await edge.freeze(base + 40 * SECOND);
  const { retry_after } = refusal(await edge.get("/five", who));
  assert.ok(retry_after <= 60, `a wait of ${retry_after} s`);
  await edge.freeze(base + 112 * SECOND);
  assert.equal(await passing(2, "/five", who), 1, "exactly one token has come back");
  await edge.advance(HOUR);
  assert.equal(await passing(6, "/five", who), 5);
  await edge.advance(-HOUR);
  for (const answer of await parallel(10, () => edge.get("/five", who))) {
    assert.ok(refusal(answer).retry_after <= 60);
  }
});

test("GCR-07: an idle caller saves up no more than the burst", async () => {
  const who = await caller();
  assert.equal(await passing(15, "/five", who), 5);
  await edge.advance(10 * MINUTE);
  assert.equal(await passing(15, "/five", who), 5);
  await edge.advance(119 * SECOND + 900);
  assert.equal(await passing(15, "/five", who), 5);
});

test("GCR-07: a new caller that sends fifty requests at once gets the burst", async () => {
  assert.equal(await passing(50, "/burst", await caller()), 10);
});

test("GCR-09: refused requests do not delay the next admission", async () => {
  const who = await caller();
  const from = edge.at;
  const passed = [];
  for (let tick = 0; tick < 600; tick++) {
    await edge.freeze(from + tick * 100);
    if ((await edge.get("/five", who)).status === 200) passed.push(tick / 10);
  }
  assert.deepEqual(passed, [0, 0.1, 0.2, 0.3, 0.4, 12, 24, 36, 48]);
});

test("GCR-09: requests before and after a full minute share one rate", async () => {
  const who = await caller();
  const minute = Math.floor(edge.at / MINUTE) * MINUTE;
  await edge.freeze(minute + 59_900);
  assert.equal(await passing(10, "/ten", who), 10);
  await edge.freeze(minute + 60_100);
  assert.equal(await passing(10, "/ten", who), 0);
});

test("HDR-01: Retry-After is always a whole number of seconds, one or more", async () => {
  const who = await caller();
  for (const [path, passes] of [["/five", 5], ["/fast", 10], ["/month", 1]]) {
    const answers = await parallel(70 + passes, () => edge.get(path, who));
    const refused = answers.filter(({ status }) => status !== 200);
    assert.equal(refused.length, 70);
    for (const answer of refused) refusal(answer, {}, edge.at);
  }
});

test("HDR-03: the wait that a refusal names counts down, and a request after it passes", async () => {
  const who = await caller();
  assert.equal(await passing(10, "/ten", who), 10);
  refusal(await edge.get("/ten", who), { limit: "ten/ip", retry_after: 6 }, edge.at);
  await edge.advance(2 * SECOND);
  refusal(await edge.get("/ten", who), { retry_after: 4 }, edge.at);
  await edge.advance(4 * SECOND);
  assert.equal((await edge.get("/ten", who)).status, 200);
  await edge.advance(500);
  refusal(await edge.get("/ten", who), { retry_after: 6 }, edge.at);
});

test("a caller that waits as long as Retry-After says passes, a hundred times of a hundred", async () => {
  const who = await caller();
  const random = new Random(Random.seed());
  await passing(5, "/five", who);
  for (let time = 0; time < 100; time++) {
    const { retry_after } = refusal(await edge.get("/five", who), {}, edge.at);
    await edge.advance(retry_after * SECOND);
    const answers = await inTurn(2, () => edge.get("/five", who));
    assert.equal(answers[0].status, 200, `time ${time}: waited ${retry_after} s`);
    if (answers[1].status === 200) await passing(5, "/five", who);
    await edge.advance(random.below(900));
  }
});

test("each of several rates is met, and a request that one refuses takes nothing from the others", async () => {
  const who = await caller();
  assert.equal(await passing(20, "/two", who), 5, "5/s refuses first");
  const first = refusal(await edge.get("/two", who), { limit: "two/ip", retry_after: 1 }, edge.at);
  assert.deepEqual(first["violated-policies"], ["two/ip"]);
  await edge.advance(SECOND);
  assert.equal(await passing(20, "/two", who), 3, "8/min has 3 left: the fifteen refused took none of them");
  refusal(await edge.get("/two", who), { limit: "two/ip-2" }, edge.at);
  await edge.advance(MINUTE);
  assert.equal(await passing(20, "/two", who), 5, "5/s is full: the seventeen refused took none of it");
});

test("an admitted answer says how much of the tightest limit is left", async () => {
  const who = await caller();
  const left = [];
  for (const answer of await inTurn(5, () => edge.get("/two", who))) left.push(answer.headers.ratelimit);
  assert.match(left[0], /^"two\/ip";r=4;t=\d+, "two\/ip-2";r=7;t=\d+$/);
  assert.match(left[4], /^"two\/ip";r=0;t=1, "two\/ip-2";r=3;t=8$/);
});
