// Daily quotas: exact under races, charged for admitted requests, and reset at local midnight.
import assert from "node:assert/strict";
import { test } from "node:test";
import { count, DAY, HOUR, inTurn, parallel, problem, refusal, SECOND, start, usedQuota } from "./harness/index.mjs";

const api = (fields) => ({ LIMIT_API: { route: "/v1/*", ...fields } });

test("QTA-01: of three hundred requests at once, a quota of a hundred admits a hundred", async (t) => {
  const edge = await start(t, { vars: api({ per_key: "100/day" }), isolates: 2 });
  const answers = await parallel(300, (index) => edge.get("/v1/x", { ip: "203.0.113.7", key: "k", isolate: index % 2 }));
  assert.equal(count(answers, 200), 100);
  assert.equal(count(answers, 429), 200);
  assert.equal(edge.origin.count, 100);
  assert.equal(await usedQuota(edge), 100);
  for (const answer of answers.filter(({ status }) => status === 429)) {
    refusal(answer, { reason: "quota_exhausted", limit: "api/key", scope: "key", retry_after: 12 * 3600 }, edge.at);
  }
});

test("QTA-02: a quota of a hundred refuses the hundred and first request and all after it", async (t) => {
  const edge = await start(t, { vars: api({ per_key: "100/day" }) });
  const answers = await inTurn(105, () => edge.get("/v1/x", { key: "k" }));
  assert.deepEqual(answers.slice(98).map(({ status }) => status), [200, 200, 429, 429, 429, 429, 429]);
  assert.equal(await usedQuota(edge), 100);
});

test("QTA-02: two first requests of a day at once are both counted", async (t) => {
  const edge = await start(t, { vars: api({ per_key: "3/day", per_ip: "2/day" }), isolates: 2 });
  const first = await parallel(2, (isolate) => edge.get("/v1/x", { ip: "203.0.113.7", key: "k", isolate }));
  assert.equal(count(first, 200), 2);
  const third = await edge.get("/v1/x", { ip: "203.0.113.7", key: "k" });
  refusal(third, { reason: "quota_exhausted", limit: "api/ip" }, edge.at);
});

test("a quota that all callers share is exact too", async (t) => {
  const edge = await start(t, { vars: api({ global: "10/day" }) });
  const answers = await inTurn(12, (index) => edge.get("/v1/x", { ip: `203.0.113.${index}` }));
  assert.equal(count(answers, 200), 10);
  refusal(answers[11], { reason: "quota_exhausted", limit: "api/global", scope: "global" }, edge.at);
  assert.equal(await usedQuota(edge), 10);
});

test("QTA-06: a request that a rate refuses is not charged to the quota", async (t) => {
  const edge = await start(t, { vars: api({ per_key: ["1/min", "100/day"] }) });
  const answers = await inTurn(51, () => edge.get("/v1/x", { key: "k" }));
  assert.equal(count(answers, 429), 50);
  for (const answer of answers.slice(1)) refusal(answer, { reason: "rate_limited", limit: "api/key" }, edge.at);
  assert.equal(await usedQuota(edge), 1);
});

test("a request's cost is charged to the quota whole", async (t) => {
  const edge = await start(t, { vars: api({ per_key: "10/day", cost: 4 }) });
  const answers = await inTurn(4, () => edge.get("/v1/x", { key: "k" }));
  assert.deepEqual(answers.map(({ status }) => status), [200, 200, 429, 429]);
});

test("each key has a quota of its own, stored under a digest", async (t) => {
  const edge = await start(t, { vars: api({ per_key: "2/day" }) });
  for (const key of ["a", "b", "c"]) {
    assert.equal(count(await inTurn(3, () => edge.get("/v1/x", { key })), 200), 2, key);
  }
  const rows = await edge.d1("SELECT day, name, subject, used FROM quota");
  assert.equal(rows.length, 3);
  for (const row of rows) {
    assert.equal(row.day, "2031-01-15");
    assert.equal(row.name, "api key quota day UTC");
    assert.match(row.subject, /^[0-9a-f]{32}$/);
    assert.equal(row.used, 2);
  }
});

const midnights = [
  { zone: "", now: "2031-01-15T23:59:50Z", wait: 10, reset: "2031-01-16T00:00:00Z", days: ["2031-01-15", "2031-01-16"] },
  { zone: " Asia/Shanghai", now: "2031-01-15T15:59:50Z", wait: 10, reset: "2031-01-16T00:00:00+08:00", days: ["2031-01-15", "2031-01-16"] },
  { zone: " +05:30", now: "2031-01-15T18:00:00Z", wait: 1800, reset: "2031-01-16T00:00:00+05:30", days: ["2031-01-15", "2031-01-16"] },
  // A day of 23 hours and one of 25.
  { zone: " Europe/Berlin", now: "2031-03-29T23:30:00Z", wait: 22.5 * 3600, reset: "2031-03-31T00:00:00+02:00", days: ["2031-03-30", "2031-03-31"] },
  { zone: " America/New_York", now: "2031-11-02T04:30:00Z", wait: 24.5 * 3600, reset: "2031-11-03T00:00:00-05:00", days: ["2031-11-02", "2031-11-03"] },
  // An alias in another case, and an offset of half an hour.
  { zone: " asia/KOLKATA", now: "2031-01-15T18:00:00Z", wait: 1800, reset: "2031-01-16T00:00:00+05:30", days: ["2031-01-15", "2031-01-16"] },
  // A midnight that does not exist, and a date that was skipped.
  { zone: " Africa/Cairo", now: "2031-04-24T21:00:00Z", wait: 3600, reset: "2031-04-25T01:00:00+03:00", days: ["2031-04-24", "2031-04-25"] },
  { zone: " Pacific/Apia", now: "2011-12-30T08:00:00Z", wait: 7200, reset: "2011-12-31T00:00:00+14:00", days: ["2011-12-29", "2011-12-31"] },
  // The clock shows 23:30 of the day before, since it was set back at 00:01: the new day goes on.
  { zone: " America/St_Johns", now: "2007-11-04T03:00:00Z", wait: 24.5 * 3600, reset: "2007-11-05T00:00:00-03:30", days: ["2007-11-04", "2007-11-05"] },
];

for (const { zone, now, wait, reset, days } of midnights) {
  test(`a quota is full again at midnight in${zone || " UTC"}, ${wait} s after ${now}`, async (t) => {
    const edge = await start(t, { vars: api({ per_key: `3/day${zone}` }), at: Date.parse(now) });
    const get = () => edge.get("/v1/x", { key: "k" });
    assert.equal(count(await inTurn(4, get), 200), 3);
    refusal(await get(), { reason: "quota_exhausted", retry_after: wait, retry_at: reset }, edge.at);
    await edge.advance(wait * SECOND - SECOND);
    refusal(await get(), { reason: "quota_exhausted", retry_after: 1, retry_at: reset }, edge.at);
    await edge.advance(SECOND);
    assert.equal(count(await inTurn(4, get), 200), 3);
    const rows = await edge.d1("SELECT day FROM quota ORDER BY day");
    assert.deepEqual(rows.map(({ day }) => day), days);
  });
}

test("quota prepaid for one day admits no request on the next", async (t) => {
  const edge = await start(t, { vars: api({ per_key: "100/day" }), at: Date.parse("2031-01-15T23:59:59Z") });
  await inTurn(30, () => edge.get("/v1/x", { key: "k" }));
  await edge.advance(SECOND);
  const answers = await inTurn(110, () => edge.get("/v1/x", { key: "k" }));
  assert.equal(count(answers, 200), 100);
});

test("QTA-05: with every fault of D1, rates hold and on_error decides", async (t) => {
  const limits = { per_key: ["5/min", "100/day"] };
  const vars = {
    DEADLINE: null, // the default
    LIMIT_OPEN: { route: "/open", on_error: "open", ...limits },
    LIMIT_CLOSED: { route: "/closed", on_error: "closed", ...limits },
    LIMIT_LOCAL: { route: "/local", on_error: "local", ...limits },
  };
  const edge = await start(t, { vars });
  const faults = [
    { kind: "throw", message: "D1_ERROR: D1 DB is overloaded. Requests queued for too long." },
    { kind: "throw", message: "D1_ERROR: Network connection lost." },
    { kind: "throw", message: "D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset." },
    { kind: "lost" },
    { kind: "hang", ms: 60_000 },
    { kind: "nonsense", value: { success: true, results: [{ used: "many" }], meta: {} } },
    { kind: "nonsense", value: null },
  ];
  for (const [index, d1] of faults.entries()) {
    await edge.advance(HOUR);
    await edge.fail({ d1 });
    const key = `key-${index}`;
    for (const path of ["/open", "/local"]) {
      const began = performance.now();
      const answers = await parallel(8, () => edge.get(path, { key }));
      const what = `${path} while D1 has ${JSON.stringify(d1)}`;
      assert.equal(count(answers, 200), 5, what);
      for (const answer of answers.filter(({ status }) => status !== 200)) refusal(answer, { reason: "rate_limited" }, edge.at);
      assert.ok(performance.now() - began < 2_000, `${what}: deadline kept`);
    }
    const began = performance.now();
    const closed = await edge.get("/closed", { key });
    assert.ok(performance.now() - began < 2_000, "deadline kept");
    problem(closed, { reason: "limiter_unavailable" });
  }
  edge.origin.forget();
  await edge.advance(DAY);
  await edge.fail({ d1: null });
  for (const path of ["/open", "/closed", "/local"]) assert.equal((await edge.get(path, { key: "after" })).status, 200, path);
});

test("QTA-05: a lost reply of D1 costs quota and admits no further request", async (t) => {
  const edge = await start(t, { vars: api({ per_key: "10/day", on_error: "closed" }) });
  await edge.fail({ d1: { kind: "lost", times: 2 } });
  const answers = await inTurn(20, async () => {
    await edge.advance(SECOND); // after two failures D1 is not asked for a moment
    return edge.get("/v1/x", { key: "k" });
  });
  const passed = count(answers, 200);
  assert.ok(passed <= 10, `${passed} of 10`);
  assert.ok(passed >= 5, `${passed} of 10: two lost replies must not cost the day`);
  assert.ok((await usedQuota(edge)) <= 10);
});
