// Caps on what is under way at once: never exceeded as the origin counts, and never leaking.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { BROTLI, count, GZIP, inTurn, open, parallel, problem, refusal, SECOND, start, TEXT, until } from "./harness/index.mjs";

const ALL = { route: "/*" };
const ip = "203.0.113.7";
const slow = (ms, more = "") => `/x?as=slow&ms=${ms}${more}`;
const admitted = (answers) => answers.filter(({ status }) => status === 200);

test("two hundred at once against a cap of ten: never more than ten at the origin, and ten of them used", async (t) => {
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
  assert.equal(edge.origin.count, 10, "what is refused costs the origin nothing");
  const { calls } = await edge.asked();
  assert.ok(calls <= 12, `${calls} calls`);
  await until(async () => (await edge.get(slow(1), { ip })).status === 200);
});

test("slots are used for request after request without a call", async (t) => {
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

test("three isolates together keep to the cap, and each of them gets something", async (t) => {
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

test("idle slots go back, and the storage is empty again", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { ...ALL, in_flight: "10" } }, isolates: 2 });
  await edge.run();
  assert.equal(count(await parallel(10, () => edge.get(slow(100), { ip })), 200), 10);
  assert.equal((await edge.get("/x", { ip, isolate: 1 })).status, 503, "the other isolate has them all");
  await until(async () => (await edge.get("/x", { ip, isolate: 1 })).status === 200);
  await sleep(4 * SECOND);
  const [object] = await edge.objects();
  assert.equal(object.name, "shared/all/in-flight");
  assert.deepEqual(object.tables, { holder: [] });
  await edge.alarms();
  assert.deepEqual((await edge.objects())[0].tables, {});
});

test("a body that streams holds its slot until it has ended, however long, and comes whole", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { ...ALL, in_flight: "1" } } });
  await edge.run();
  const streaming = edge.get(slow(0, "&parts=60&bytes=1000&every=100"), { ip });
  await until(() => edge.origin.under === 1);
  let others = 0;
  while (edge.origin.under === 1 && others < 200) {
    const answer = await edge.get(slow(0), { ip });
    if (edge.origin.under === 1) assert.equal(answer.status, 503, `after ${others} others`);
    others++;
    await sleep(50);
  }
  assert.equal((await streaming).body.length, 60 * 1000 + 3);
  assert.equal(edge.origin.most, 1);
  assert.ok(others > 60, `${others}`);
  await until(async () => (await edge.get("/x", { ip })).status === 200);
});

test("what is passed on under a cap is the same to the byte", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { ...ALL, in_flight: "5", per_ip: "1000/s" } } });
  await edge.run();
  for (const [as, bytes] of [["gzip", GZIP], ["br", BROTLI]]) {
    const answer = await edge.get(`/x?as=${as}`, { ip, headers: [["accept-encoding", "gzip, br"]] });
    assert.equal(answer.headers["content-encoding"], as === "br" ? "br" : "gzip");
    assert.ok(answer.body.equals(bytes), as);
    assert.equal(answer.headers["content-length"], String(bytes.length));
    assert.ok(answer.headers.ratelimit);
  }
  const plain = await edge.get("/x?as=range", { ip });
  assert.equal(plain.text, TEXT);
  const head = await edge.send({ method: "HEAD", path: "/x?as=gzip", ip });
  assert.equal(head.headers["content-length"], String(GZIP.length));
  for (const status of [204, 304]) assert.equal((await edge.get(`/x?as=status&status=${status}`, { ip })).status, status);
  const big = await edge.get(`/x?as=big&bytes=${5 * 2 ** 20}`, { ip });
  assert.equal(big.body.length, 5 * 2 ** 20);
  assert.equal(count(await parallel(5, () => edge.get(slow(50), { ip })), 200), 5, "none of them has kept a slot");
});

test("who may wait for a slot does so for as long as it may", async (t) => {
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
  assert.ok(performance.now() - late >= 590, "it has waited");
  await long;
});

test("an origin that takes too long is answered for, and its slot is free again", async (t) => {
  const vars = { LIMIT_ALL: { ...ALL, in_flight: "1", timeout: "300ms" }, LIMIT_FREE: { route: "/free", timeout: "200ms" } };
  const edge = await start(t, { vars });
  await edge.run();
  for (const path of [slow(3_000), "/free?as=slow&ms=3000"]) {
    const begun = performance.now();
    problem(await edge.get(path, { ip }), { reason: "origin_timeout", title: "Gateway timeout" });
    assert.ok(performance.now() - begun < 1_000);
    await until(() => edge.origin.under === 0);
  }
  /** Until the origin has surely heard that the request is broken off. */
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

test("an origin that hangs up, fails or answers nothing gives its slot back", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { ...ALL, in_flight: "1" } } });
  await edge.run();
  for (let round = 0; round < 5; round++) {
    assert.equal((await edge.get("/x?as=reset", { ip })).status, 502);
    assert.equal((await edge.get("/x?as=status&status=500", { ip })).status, 500);
    assert.equal((await edge.get("/x?as=status&status=204", { ip })).status, 204);
  }
});

test("what is refused by a shared limit afterwards keeps no slot, and by its caller's before has none", async (t) => {
  const vars = { LIMIT_ALL: { ...ALL, in_flight: "2", global: "3/h", per_ip: "5/h" } };
  const edge = await start(t, { vars });
  const answers = await inTurn(10, () => edge.get("/x", { ip }));
  assert.deepEqual(answers.map(({ status }) => status), [200, 200, 200, 429, 429, 429, 429, 429, 429, 429]);
  assert.equal(answers[4].json.limit, "all/global");
  assert.equal(answers[9].json.limit, "all/ip");
});

test("base's cap and the binding's are both kept, and exempt routes and listed addresses pass", async (t) => {
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

test("in shadow all pass, and the log says who would not have", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { ...ALL, in_flight: "2", mode: "shadow" } } });
  await edge.run();
  assert.equal(count(await parallel(8, () => edge.get(slow(200), { ip })), 200), 8);
  const lines = edge.records.filter(({ event }) => event === "refused");
  assert.equal(lines.length, 6);
  for (const line of lines) {
    const { limit, scope, reason, binding, shadow } = line;
    assert.deepEqual({ limit, scope, reason, binding, shadow }, { limit: "all/in-flight", scope: "global", reason: "over_capacity", binding: "all", shadow: true });
  }
});

test("low requests leave the last fifth to those above, and normal ones the last tenth", async (t) => {
  const vars = {
    LIMIT_BASE: { in_flight: "20" },
    LIMIT_LOW: { route: "/low", priority: "low" },
    LIMIT_HIGH: { route: "/high", priority: "high" },
  };
  const edge = await start(t, { vars });
  await edge.run();
  const under = async (path, ms = 1_500) => {
    const before = edge.origin.count;
    const answers = parallel(30, () => edge.get(`${path}?as=slow&ms=${ms}`, { ip }));
    await sleep(400);
    return [edge.origin.count - before, answers];
  };
  const [low, a] = await under("/low");
  const [normal, b] = await under("/normal");
  const [high, c] = await under("/high");
  assert.deepEqual([low, normal, high], [16, 2, 2]);
  assert.equal(edge.origin.most, 20);
  await Promise.all([a, b, c]);
  // What high requests have held is not for low ones either, once it lies idle.
  const [again, d] = await under("/high", 100);
  assert.equal(again, 20);
  await d;
  const [then, e] = await under("/low", 100);
  assert.ok(then <= 16, `${then}`);
  await e;
});

for (const isolates of [1, 2]) {
  test(`high requests take the places of low ones as these end, and go before them in the line, in ${isolates} isolates`, async (t) => {
    const vars = {
      LIMIT_BASE: { in_flight: "10", wait: "500ms" },
      LIMIT_LOW: { route: "/low", priority: "low" },
      LIMIT_HIGH: { route: "/high", priority: "high" },
    };
    const edge = await start(t, { vars, isolates });
    await edge.run();
    const seen = { "/low": [], "/high": [] };
    const crowd = (path, isolate, clients, ms) => {
      const end = performance.now() + ms;
      return parallel(clients, async () => {
        while (performance.now() < end) {
          const answer = await edge.get(`${path}?as=slow&ms=100`, { ip, isolate });
          seen[path].push(answer);
          if (answer.status !== 200) await sleep(10);
        }
      });
    };
    const low = crowd("/low", 0, 30, 5_500);
    await sleep(1_000);
    assert.ok(count(seen["/low"], 200) > 30, "alone they have most of it");
    const high = crowd("/high", isolates - 1, 20, 4_500);
    await sleep(2_500);
    seen["/low"] = [];
    seen["/high"] = [];
    await sleep(1_500);
    const [lows, highs] = [seen["/low"], seen["/high"]].map((answers) => count(answers, 200));
    await Promise.all([low, high]);
    t.diagnostic(`${highs} high ones and ${lows} low ones`);
    assert.ok(lows * 4 <= highs, `${highs} high ones and ${lows} low ones`);
    assert.equal(edge.origin.most, 10);
  });
}

test("where each isolate has its share, high requests take the places of low ones that come far more often", async (t) => {
  const vars = {
    LIMIT_BASE: { in_flight: "10" },
    LIMIT_LOW: { route: "/low", priority: "low" },
    LIMIT_HIGH: { route: "/high", priority: "high" },
  };
  const isolates = 5;
  const edge = await start(t, { vars, isolates });
  await edge.run();
  const end = performance.now() + 7_000;
  const seen = { "/low": [], "/high": [] };
  const every = async (ms, path) => {
    const answers = [];
    for (let index = 0; performance.now() < end; index++) {
      const counts = performance.now() > end - 3_500;
      const get = edge.get(`${path}?as=slow&ms=100`, { ip, isolate: index % isolates });
      answers.push(get.then((answer) => counts && seen[path].push(answer)));
      await sleep(ms);
    }
    await Promise.all(answers);
  };
  const low = every(4, "/low");
  await sleep(1_000);
  await Promise.all([low, every(12, "/high")]);
  const [lows, highs] = [seen["/low"], seen["/high"]].map((answers) => count(answers, 200));
  t.diagnostic(`${highs} high ones of ${seen["/high"].length}, and ${lows} low ones of ${seen["/low"].length}`);
  assert.ok(lows * 2 <= highs, `${highs} high ones and ${lows} low ones`);
  assert.equal(edge.origin.most, 10);
});

test("low requests leave the last fifth to others, however many isolates there are", async (t) => {
  const vars = {
    LIMIT_BASE: { in_flight: "10" },
    LIMIT_LOW: { route: "/low", priority: "low" },
    LIMIT_HIGH: { route: "/high", priority: "high" },
  };
  const edge = await start(t, { vars, isolates: 5 });
  await edge.run();
  // Two high ones in each isolate, whose slots low ones find idle there.
  const first = [];
  for (let index = 0; index < 10; index++) {
    first.push(edge.get("/high?as=slow&ms=1500", { ip, isolate: index % 5 }));
    await sleep(80);
  }
  const statuses = (await Promise.all(first)).map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 200).length, 10, `${statuses}`);
  const end = performance.now() + 5_000;
  const low = parallel(20, async (index) => {
    while (performance.now() < end) {
      const answer = await edge.get("/low?as=slow&ms=100", { ip, isolate: index % 5 });
      if (answer.status !== 200) await sleep(10);
    }
  });
  // What was lent to high ones has gone back by now.
  await sleep(2_500);
  edge.origin.forget();
  await sleep(1_000);
  const most = edge.origin.most;
  const high = await parallel(5, (index) => edge.get("/high", { ip, isolate: index % 5 }));
  await low;
  t.diagnostic(`${most} low ones at once, and ${count(high, 200)} of ${high.length} high ones passed`);
  assert.ok(most <= 8, `${most} at once`);
  assert.ok(most >= 7, `${most} at once`);
  assert.ok(count(high, 200) >= 2, `${count(high, 200)} passed`);
});
