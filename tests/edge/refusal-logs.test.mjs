// Log lines of refusals.
import assert from "node:assert/strict";
import { test } from "node:test";
import { count, inTurn, parallel, start, until } from "./harness/index.mjs";

const who = { ip: "203.0.113.7", key: "k" };

test("a refusal logs one line, and an admitted request none", async (t) => {
  const vars = { LIMIT_LOGIN_PAGE: { route: "/login", per_ip: "2/min" }, LIMIT_API: { route: "/v1", per_key: "1/day" } };
  const edge = await start(t, { vars });
  const headers = [["cf-ray", "8f0123456789abcd-FRA"]];
  await inTurn(2, () => edge.get("/login", { ...who, headers }));
  await edge.get("/v1", { ...who, headers });
  const refused = [await edge.get("/login", { ...who, headers }), await edge.get("/v1", { ...who, headers })];
  assert.equal(count(refused, 429), 2);
  await until(() => edge.records.length >= 2);
  assert.equal(edge.records.length, 2, edge.records.map((record) => JSON.stringify(record)).join("\n"));
  assert.equal(edge.logs.length, 2, "no other line");
  const [rate, quota] = edge.records;
  assert.equal(rate.limit, "login-page/ip");
  assert.equal(rate.scope, "ip");
  assert.equal(rate.reason, "rate_limited");
  assert.match(rate.binding, /login/i);
  assert.equal(rate.wait, 30);
  assert.equal(rate.ray, "8f0123456789abcd-FRA");
  assert.match(rate.caller, /^[0-9a-f]{8,32}$/);
  assert.equal("shadow" in rate, false);
  assert.equal(quota.reason, "quota_exhausted");
  assert.notEqual(quota.caller, rate.caller);
});

test("a flood of refusals is counted in full, in fewer lines", async (t) => {
  const edge = await start(t, { vars: { LIMIT_X: { route: "/x", per_ip: "1/h" } } });
  const refused = count(await parallel(600, () => edge.get("/x", who)), 429);
  assert.equal(refused, 599);
  const told = () => edge.records.reduce((sum, record) => sum + (record.count ?? 1), 0);
  await until(() => told() >= refused);
  assert.equal(told(), refused);
  t.diagnostic(`${edge.records.length} lines`);
  assert.ok(edge.records.length < refused / 2, `${edge.records.length} lines for ${refused}`);
});

test("a refusal's log line has the id that its client was told", async (t) => {
  const edge = await start(t, { vars: { LIMIT_X: { route: "/x/*", per_ip: "1/h" } } });
  await edge.get("/x/1", who);
  const path = "/x/2";
  const plain = await edge.get(`${path}?token=secret`, who);
  const ray = await edge.get(path, { ...who, headers: [["cf-ray", "8f0123456789abcd-FRA"]] });
  await until(() => edge.records.length >= 2);
  const [first, second] = edge.records;
  assert.equal(plain.json.request_id, plain.headers["penstock-request-id"]);
  assert.deepEqual([first.request_id, first.method, first.path], [plain.json.request_id, "GET", path]);
  assert.deepEqual([second.ray, second.request_id, ray.json.request_id], ["8f0123456789abcd-FRA", undefined, second.ray]);
  assert.equal(ray.headers["penstock-request-id"], undefined);
  assert.ok(!edge.logs.join().includes("secret"));
});

test("an origin that fails is logged with its host and a sentence, and the id that its client was told", async (t) => {
  const vars = { LIMIT_ALL: { route: "/*", per_ip: "100/s" }, LIMIT_SLOW: { route: "/slow/*", timeout: "100ms" } };
  const edge = await start(t, { vars });
  await edge.run();
  for (const [path, reason] of [["/?as=reset", "origin_unreachable"], ["/slow/x?as=slow&ms=5000", "origin_timeout"]]) {
    const before = edge.records.length;
    const answer = await edge.get(path, who);
    assert.equal(answer.json.reason, reason);
    await until(() => edge.records.length > before);
    const { event, host, problem, request_id, ...line } = edge.records.at(-1);
    assert.deepEqual([event, line.reason, line.path], ["origin_failed", reason, path.split("?")[0]]);
    assert.equal(request_id, answer.json.request_id);
    assert.match(host, /^(127\.0\.0\.1|localhost)(:\d+)?$/);
    assert.match(problem, /^The (connection failed|answer did not begin within 100ms).*\.$/);
    assert.doesNotMatch(problem, /JsValue|Error\(/);
  }
});
