// Caps on requests at once: the origin never sees more than a cap allows, and no permit is lost.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { count, inTurn, parallel, problem, refusal, SECOND, start, until } from "./harness/index.mjs";

const ALL = { route: "/*" };
const ip = "203.0.113.7";
const slow = (ms, more = "") => `/x?as=slow&ms=${ms}${more}`;

test("of two hundred requests at once, a cap of ten sends ten to the origin and refuses the others", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { ...ALL, in_flight: "10" } } });
  await edge.run();
  const answers = await parallel(200, () => edge.get(slow(2_000), { ip }));
  assert.equal(edge.origin.most, 10);
  assert.equal(count(answers, 200), 10);
  assert.equal(count(answers, 503), 190);
  const refused = answers.find(({ status }) => status === 503);
  const body = refusal(refused, { status: 503, reason: "over_capacity", limit: "all/in-flight", scope: "global" });
  assert.ok(body.retry_after >= 1 && body.retry_after <= 3);
  assert.equal(refused.headers["ratelimit-policy"], '"all/in-flight";q=10;qu="concurrent-requests"');
  assert.match(body.detail, /^It is full: all\/in-flight allows 10 requests at once for everyone together\. Try again in \d seconds?\.$/);
  assert.equal(edge.origin.count, 10, "refused requests cost the origin nothing");
  const { calls } = await edge.asked();
  assert.ok(calls <= 12, `${calls} calls`);
  await edge.untilAdmitted(slow(1), { ip });
});

test("an idle permit serves the next request without an actor call", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { ...ALL, in_flight: "4" }, TRACE: "header" } });
  await edge.run();
  const answers = await inTurn(100, () => edge.get("/x", { ip }));
  assert.equal(count(answers, 200), 100);
  const { calls } = await edge.asked();
  t.diagnostic(`${calls} calls for 100 requests`);
  assert.ok(calls <= 3, `${calls} calls`);
  assert.match(answers[0].headers["penstock-trace"], /actors=1, d1=0, rows=[12], wallet=0, limits=1/);
  assert.match(answers[50].headers["penstock-trace"], /actors=0, d1=0, rows=0, wallet=1, limits=1/);
});

test("three isolates together keep to the cap, and each gets a share", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { ...ALL, in_flight: "12" } }, isolates: 3 });
  await edge.run();
  const end = performance.now() + 6_000;
  const passed = [0, 0, 0];
  await parallel(60, async (index) => {
    while (performance.now() < end) {
      const answer = await edge.get(slow(50), { ip, isolate: index % 3 });
      if (answer.status === 200) passed[index % 3] += 1;
      else await sleep(20);
    }
  });
  t.diagnostic(`${passed} passed, at most ${edge.origin.most} at once`);
  assert.ok(edge.origin.most <= 12, `${edge.origin.most} at once`);
  assert.ok(Math.min(...passed) > Math.max(...passed) / 4, `${passed}`);
});

test("idle permits go back to the actor, and its storage is empty again", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { ...ALL, in_flight: "10" } }, isolates: 2 });
  await edge.run();
  assert.equal(count(await parallel(10, () => edge.get(slow(100), { ip })), 200), 10);
  assert.equal((await edge.get("/x", { ip, isolate: 1 })).status, 503, "the other isolate holds every permit");
  await edge.untilAdmitted("/x", { ip, isolate: 1 });
  await sleep(4 * SECOND);
  const [object] = await edge.objects();
  assert.equal(object.name, "shared/all/in-flight");
  assert.deepEqual(object.tables, { holder: [] });
  await edge.alarms();
  assert.deepEqual((await edge.objects())[0].tables, {});
});

test("an isolate that was busy returns its permits soon after its last request", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { route: "/*", in_flight: "5" } }, isolates: 2 });
  await edge.run();
  // One request returns idle permits for twenty seconds. It is near its end when the traffic stops.
  const end = performance.now() + 20_000;
  await parallel(5, async () => {
    while (performance.now() < end) await edge.get("/x?as=slow&ms=100", { ip });
  });
  await sleep(5_000);
  assert.equal(count(await parallel(5, () => edge.get("/x?as=slow&ms=500", { ip, isolate: 1 })), 200), 5);
});

test("a request waits for a permit as long as the cap's wait allows", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { ...ALL, in_flight: "5", wait: "600ms" } } });
  await edge.run();
  const begun = performance.now();
  const answers = await parallel(10, () => edge.get(slow(200), { ip }));
  assert.equal(count(answers, 200), 10, "the second five wait for the first");
  assert.equal(edge.origin.most, 5);
  assert.ok(performance.now() - begun < 1_500);
  const long = parallel(5, () => edge.get(slow(1_500), { ip }));
  await until(() => edge.origin.under === 5);
  const late = performance.now();
  assert.equal((await edge.get(slow(1), { ip })).status, 503);
  assert.ok(performance.now() - late >= 590, "it waited");
  await long;
});

test("an origin that exceeds the timeout is answered for with 504, and its permit is free again", async (t) => {
  const vars = { LIMIT_ALL: { ...ALL, in_flight: "1", timeout: "300ms" }, LIMIT_FREE: { route: "/free", timeout: "200ms" } };
  const edge = await start(t, { vars });
  await edge.run();
  for (const path of [slow(3_000), "/free?as=slow&ms=3000"]) {
    const begun = performance.now();
    problem(await edge.get(path, { ip }), { reason: "origin_timeout", title: "Gateway timeout" });
    assert.ok(performance.now() - begun < 1_000);
    await until(() => edge.origin.under === 0);
  }
  /** Resolves when the origin has surely heard that the request is broken off. */
  const settled = () => sleep(400);
  await settled();
  const headInTime = await edge.get(slow(0, "&parts=5&bytes=10&every=100"), { ip });
  assert.equal(headInTime.status, 200, "only the beginning of the answer has a deadline");
  assert.equal(headInTime.body.length, 53);
  const page = await edge.get(slow(3_000), { ip, headers: [["accept", "text/html"], ["accept-language", "zh"]] });
  assert.equal(page.status, 504);
  assert.match(page.text, /网站响应超时/);
  await settled();
  const grpc = await edge.get(slow(3_000), { ip, headers: [["content-type", "application/grpc-web+proto"]] });
  assert.equal(grpc.headers["grpc-status"], "4");
});

test("an origin that hangs up, fails or sends no body frees its permit", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { ...ALL, in_flight: "1" } } });
  await edge.run();
  for (let round = 0; round < 5; round++) {
    assert.equal((await edge.get("/x?as=reset", { ip })).status, 502);
    assert.equal((await edge.get("/x?as=status&status=500", { ip })).status, 500);
    assert.equal((await edge.get("/x?as=status&status=204", { ip })).status, 204);
  }
});

test("a request that a rate refuses holds no permit", async (t) => {
  const vars = { LIMIT_ALL: { ...ALL, in_flight: "2", global: "3/h", per_ip: "5/h" } };
  const edge = await start(t, { vars });
  const answers = await inTurn(10, () => edge.get("/x", { ip }));
  assert.deepEqual(answers.map(({ status }) => status), [200, 200, 200, 429, 429, 429, 429, 429, 429, 429]);
  for (const { json } of answers.slice(3)) assert.equal(json.limit, "all/global", "of its own it has used three");
});

test("a request meets the base cap and its binding's, and exempt routes and allowed addresses meet neither", async (t) => {
  const vars = {
    ALLOW: "198.51.100.1",
    LIMIT_BASE: { in_flight: "6" },
    LIMIT_A: { route: "/x", in_flight: "4" },
    LIMIT_HEALTH: { route: "/health", exempt: true },
  };
  const edge = await start(t, { vars });
  await edge.run();
  const x = parallel(10, () => edge.get(slow(800), { ip }));
  await until(() => edge.origin.under === 4);
  const rest = parallel(10, () => edge.get("/other?as=slow&ms=500", { ip }));
  await until(() => edge.origin.under === 6);
  assert.equal((await edge.get("/other", { ip })).json.limit, "base/in-flight");
  assert.equal((await edge.get("/health", { ip })).status, 200);
  assert.equal((await edge.get("/x", { ip: "198.51.100.1" })).status, 200);
  assert.deepEqual([count(await x, 200), count(await rest, 200)], [4, 2]);
});

test("a cap in shadow admits every request and logs each one over it", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { ...ALL, in_flight: "2", mode: "shadow" } } });
  await edge.run();
  assert.equal(count(await parallel(8, () => edge.get(slow(200), { ip })), 200), 8);
  const lines = edge.records.filter(({ event }) => event === "would_refuse");
  assert.equal(lines.length, 6);
  for (const line of lines) {
    const { limit, scope, reason, binding, shadow } = line;
    const expected = { limit: "all/in-flight", scope: "global", reason: "over_capacity", binding: "all", shadow: true };
    assert.deepEqual({ limit, scope, reason, binding, shadow }, expected);
  }
});
