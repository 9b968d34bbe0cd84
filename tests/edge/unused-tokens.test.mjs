// Requests that are refused by what everyone shares: they have used nothing of their callers' own
// limits, neither rate nor day.
import assert from "node:assert/strict";
import { test } from "node:test";
import { count, inTurn, parallel, problem, returnIdleQuota, SECOND, start, until, usedQuota } from "./harness/index.mjs";

const caller = { ip: "203.0.113.7", key: "k" };
const somebody = { ip: "198.51.100.9", key: "other" };
const ALL = { route: "/*" };
const TRACE = "header";

/** Calls to actors that these answers' decisions have made. */
const calls = (answers) =>
  answers.reduce((sum, { headers }) => sum + Number(/actors=(\d+)/.exec(headers["penstock-trace"])[1]), 0);

/** Takes the only permit of a cap of one; the function that it returns gives it back. */
async function takePermit(edge) {
  const held = edge.get("/x?as=held", somebody);
  await until(() => edge.origin.under === 1);
  return async () => {
    edge.origin.release();
    await held;
    edge.origin.forget();
  };
}

test("CHG-01: thirteen requests that a full cap refuses leave the day's ten", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { ...ALL, per_key: "10/day", in_flight: "1" } } });
  const release = await takePermit(edge);
  const refused = await inTurn(13, () => edge.get("/x", caller));
  assert.equal(count(refused, 503), 13);
  await release();
  await edge.advance(5 * SECOND);
  const answers = await inTurn(12, () => edge.get("/x", caller));
  assert.equal(count(answers, 200), 10);
  problem(answers[10], { status: 429, reason: "quota_exhausted" });
  assert.equal(await usedQuota(edge), 11, "ten, and the one that held the cap");
});

test("CHG-01: a thousand requests that a full cap refuses use nothing, and make hardly a call", async (t) => {
  const limits = { per_ip: "2000/h", per_key: ["40/h", "5000/day"], in_flight: "1" };
  const edge = await start(t, { vars: { LIMIT_ALL: { ...ALL, ...limits }, TRACE }, isolates: 2 });
  const release = await takePermit(edge);
  await edge.run();
  let most = 0;
  let now = 0;
  const refused = await parallel(1_000, async () => {
    most = Math.max(most, ++now);
    const answer = await edge.get("/x", caller);
    now -= 1;
    return answer;
  });
  await edge.freeze(edge.at + 60 * SECOND);
  const statuses = count(refused, 503);
  t.diagnostic(`${statuses} of 1000 by the cap, ${calls(refused)} calls, at most ${most} under way`);
  assert.ok(statuses >= 960, `${statuses}: what the key has goes around`);
  assert.ok(calls(refused) <= 60, `${calls(refused)} calls`);
  await release();
  const more = await inTurn(1_000, () => edge.get("/x?n", { ...caller }));
  assert.ok(count(more, 200) >= 39, `${count(more, 200)} of 40`);
  await returnIdleQuota(edge);
  assert.equal(await usedQuota(edge), edge.origin.count + 1, "what reached the origin, and the one that held the cap");
});

test("CHG-01: a thousand requests that a full global limit refuses use nothing, here or elsewhere", async (t) => {
  const limits = { per_ip: "2000/h", per_key: ["40/h", "5000/day"], global: "2/h" };
  const edge = await start(t, { vars: { LIMIT_ALL: { ...ALL, ...limits }, TRACE }, isolates: 2 });
  // The other isolate uses it up, so the one that refuses has yet to find out.
  assert.equal(count(await inTurn(3, () => edge.get("/x", { ...somebody, isolate: 1 })), 200), 2);
  edge.origin.forget();
  const underWay = 8;
  const refused = [];
  await parallel(underWay, async () => {
    refused.push(...(await inTurn(1_000 / underWay, () => edge.get("/x", caller))));
  });
  assert.equal(count(refused, 429), 1_000);
  for (const { json } of refused) assert.equal(json.limit, "all/global");
  t.diagnostic(`${calls(refused)} calls`);
  assert.ok(calls(refused) <= 2 * underWay, `${calls(refused)} calls`);
  assert.equal(edge.origin.count, 0);
  await returnIdleQuota(edge);
  assert.equal(await usedQuota(edge), 2, "of the day as many as reached the origin");

  // Half an hour later everyone together has a token again, and the key its forty.
  await edge.redeploy({ LIMIT_ALL: { ...ALL, ...limits, global: "100000/h" } });
  await edge.advance(1_800 * SECOND);
  assert.equal(count(await inTurn(50, () => edge.get("/x", { ...caller, isolate: 1 })), 200), 40);
  await returnIdleQuota(edge);
  assert.equal(await usedQuota(edge), 42);
});
