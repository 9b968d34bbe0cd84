// Faults that were found in stored and remembered state, and their inputs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { count, inTurn, MINUTE, parallel, refusal, SECOND, start, until, usedQuota } from "./harness/index.mjs";

const who = { ip: "203.0.113.7", key: "k" };
/**
 * Lets time pass until `done()`: an isolate returns quota tokens by a real timer, an actor by its
 * alarm.
 */
async function settle(edge, done) {
  for (let look = 0; look < 10 && !(await done()); look++) {
    await edge.advance(6 * SECOND);
    await sleep(500);
    await edge.alarms();
  }
}

test("QTA-06: quota counted for requests that a rate refuses goes back", async (t) => {
  const edge = await start(t, { vars: { LIMIT_API: { route: "/api", per_ip: "5/h", per_key: "100/day" } } });
  const answers = await parallel(50, () => edge.get("/api", who));
  assert.equal(count(answers, 200), 5);
  // The tokens go back without a further request.
  await settle(edge, async () => (await usedQuota(edge)) === 5);
  assert.equal(await usedQuota(edge), 5);
});

test("a caller that is refused from memory is admitted at the time it was told, though it keeps asking", async (t) => {
  const edge = await start(t, { vars: { LIMIT_API: { route: "/api", per_ip: "20/min", per_key: "5/min" } } });
  await inTurn(6, () => edge.get("/api", who));
  const flood = await parallel(100, () => edge.get("/api", who));
  const { retry_after, limit } = refusal(flood.at(-1));
  assert.equal(limit, "api/key");
  await edge.advance(retry_after * SECOND);
  assert.equal((await edge.get("/api", who)).status, 200);
  await parallel(100, () => edge.get("/api", who));
  await edge.advance(60 * MINUTE);
  assert.equal((await edge.get("/api", who)).status, 200);
});

test("an outage does not refill the buckets of callers that have used them up", async (t) => {
  const edge = await start(t, { vars: { LIMIT_API: { route: "/api", per_ip: "5/min" }, LIMIT_DAY: { route: "/day", per_key: "5/day" } } });
  assert.equal(count(await inTurn(6, () => edge.get("/api", who)), 200), 5);
  assert.equal(count(await inTurn(6, () => edge.get("/day", who)), 200), 5);
  await edge.advance(12 * SECOND);
  await edge.fail({ actor: { kind: "throw", flags: { overloaded: true } } });
  assert.equal(count(await inTurn(10, () => edge.get("/api", who)), 200), 1);
  await edge.advance(12 * SECOND);
  assert.equal(count(await inTurn(1, () => edge.get("/api", who)), 200), 1);
  await edge.fail({ actor: null, d1: { kind: "throw" } });
  assert.equal(count(await inTurn(10, () => edge.get("/api", who)), 200), 0, "requests of the outage are counted after it");
  await edge.advance(61 * SECOND);
  assert.equal(count(await inTurn(10, () => edge.get("/day", who)), 200), 0, "a day used up stays so without D1");
});

test("STO-06: an alarm set while another one cleans up is not lost", async (t) => {
  const vars = { DURABLE_AFTER: "0s", LIMIT_Q: { route: "/q", per_key: "100000/day" }, LIMIT_R: { route: "/r", per_key: "10/s" } };
  const edge = await start(t, { vars });
  for (let sent = 0; sent < 400; sent += 4) {
    await parallel(4, () => edge.get("/q", who));
    await edge.advance(20);
  }
  const object = async () => (await edge.objects()).find(({ name }) => name.startsWith("key/"));
  // The isolate returns its tokens; then the actor's alarm returns them to D1, which is slow.
  await edge.advance(2 * SECOND);
  await sleep(1_500);
  await edge.advance(6 * SECOND);
  await edge.fail({ d1: { kind: "hang", ms: 600 } });
  const alarm = edge.alarms();
  await until(async () => (await object()).alarms === 1);
  assert.equal((await edge.get("/r", who)).status, 200);
  await edge.advance(10 * SECOND);
  await alarm;
  await edge.fail({ d1: null });
  assert.deepEqual((await object()).tables, {}, "the actor has deleted every row, and the alarm that /r has set");
  await edge.advance(2 * MINUTE);
  assert.equal((await edge.get("/r", who)).status, 200);
  assert.notEqual((await object()).alarmAt, null, "an alarm will delete the row");
});
