// What a refused caller is told, in headers, body and logs; what a passed one is; and limits that refuse nobody.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDictionary } from "structured-headers";
import { count, inTurn, MINUTE, parallel, rateHeaders, refusal, start, until } from "./harness/index.mjs";

const ip = "203.0.113.7";
const who = { ip, key: "k" };

test("hdr_05_every_answer's_rate_headers_are_structured_fields", async (t) => {
  const vars = {
    LIMIT_BASE: { per_ip: "1000/min", global: "5000/s" },
    LIMIT_LONG_NAME: { route: "/x", per_ip: ["5/s burst 7", "9/30s"], per_key: ["3/min", "100/day Asia/Shanghai"], global: "6/min" },
  };
  const edge = await start(t, { vars });
  const answers = await inTurn(12, (index) => edge.get("/x", { ip, key: `key-${index % 3}` }));
  answers.push(await edge.get("/?as=status&status=204", who), await edge.get("/other", { ip }), await edge.get("/"));
  const names = new Set();
  for (const answer of answers) {
    const { policies, limits } = rateHeaders(answer);
    assert.equal(limits.length, 1);
    for (const { name } of limits) assert.ok(policies.some((policy) => policy.name === name), name);
    for (const { name } of policies) names.add(name);
    assert.ok(!/[^\x20-\x7e]/.test(answer.headers.ratelimit));
  }
  assert.ok(names.has("long-name/ip") && names.has("base/ip"), [...names].join());
  const refused = answers.find(({ status }) => status === 429);
  refusal(refused, { reason: refused.json.reason }, edge.at);
});

test("the policy says the limit's quota and window", async (t) => {
  const vars = { LIMIT_X: { route: "/x", per_ip: "5/min" }, LIMIT_Y: { route: "/y", per_key: "100/day" } };
  const edge = await start(t, { vars });
  assert.equal((await edge.get("/x", who)).headers["ratelimit-policy"], '"x/ip";q=5;w=60');
  assert.equal((await edge.get("/y", who)).headers["ratelimit-policy"], '"y/key";q=100;w=86400');
});

test("a refusal names the refused limit's policy first and the caller's others after it", async (t) => {
  const vars = { LIMIT_BASE: { per_ip: "1200/min" }, LIMIT_LOGIN: { route: "POST /login", per_ip: "5/min" } };
  const edge = await start(t, { vars });
  const answers = await inTurn(6, () => edge.post("/login", who));
  refusal(answers[5], { limit: "login/ip" }, edge.at);
  assert.equal(answers[5].headers["ratelimit-policy"], '"login/ip";q=5;w=60, "base/ip";q=1200;w=60');
  assert.equal(answers[5].headers.ratelimit, '"login/ip";r=0;t=12');
});

test("of several limits that refuse, the one with the longest wait speaks", async (t) => {
  const vars = { LIMIT_X: { route: "/x", per_ip: ["2/s", "2/min", "2/h"] } };
  const edge = await start(t, { vars });
  const answers = await inTurn(3, () => edge.get("/x", who));
  refusal(answers[2], { limit: "x/ip-3", retry_after: 1800 }, edge.at);
});

test("hdr_07_a_refusal_on_a_cacheable_url_is_not_cached", async (t) => {
  const edge = await start(t, { vars: { LIMIT_X: { route: "/*", per_ip: "1/min" } } });
  const path = "/style.css?as=status&status=200&h=Cache-Control:public,max-age=3600";
  assert.equal((await edge.get(path, who)).headers["cache-control"], "public,max-age=3600", "the origin's own words");
  refusal(await edge.get(path, who), {}, edge.at);
  await edge.advance(MINUTE);
  assert.equal((await edge.get(path, who)).status, 200);
});

const LEGACY = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];
const DRAFT = ["ratelimit", "ratelimit-policy"];
for (const [style, has] of [["draft-11", DRAFT], ["legacy", LEGACY], ["both", [...DRAFT, ...LEGACY]], ["none", []]]) {
  test(`HEADERS = "${style}" sends ${has.join(", ") || "no rate headers"}`, async (t) => {
    const edge = await start(t, { vars: { HEADERS: style, LIMIT_X: { route: "/x", per_ip: "2/min" } } });
    const [first, , refused] = await inTurn(3, () => edge.get("/x", who));
    assert.equal(first.status, 200);
    assert.equal(refused.status, 429);
    assert.equal(refused.headers["retry-after"], "30", "this one always");
    for (const header of [...DRAFT, ...LEGACY]) {
      for (const answer of [first, refused]) assert.equal(header in answer.headers, has.includes(header), `${header} at ${answer.status}`);
    }
    if (has.includes(LEGACY[0])) {
      assert.deepEqual(LEGACY.map((header) => first.headers[header]), ["2", "1", "30"]);
      assert.deepEqual(LEGACY.map((header) => refused.headers[header]), ["2", "0", "30"]);
    }
  });
}

test("TRACE tells what a decision cost, and nothing does without it", async (t) => {
  const limits = { LIMIT_X: { route: "/x", per_ip: "2/h", per_key: "60/min", global: "100/s" }, LIMIT_Q: { route: "/q", per_key: "9/day" } };
  const edge = await start(t, { vars: { TRACE: "header", ...limits } });
  const answers = [...(await inTurn(3, () => edge.get("/x", who))), await edge.get("/free", who), await edge.get("/q", who)];
  const traces = answers.map(({ headers }) => Object.fromEntries([...parseDictionary(headers["penstock-trace"])].map(([name, [value]]) => [name, value])));
  for (const trace of traces) {
    for (const name of ["actors", "d1", "rows", "wallet", "limits", "us"]) {
      assert.ok(Number.isSafeInteger(trace[name]) && trace[name] >= 0, `${name} in ${JSON.stringify(trace)}`);
    }
  }
  const [first, , refused, free, quota] = traces;
  assert.equal(first.limits, 3);
  assert.ok(first.actors >= 1 && first.actors <= 3);
  assert.ok(first.rows >= 1, "2/h owes half an hour: that is written down");
  assert.equal(refused.rows, 0, "a refusal writes nothing");
  assert.deepEqual([free.actors, free.limits, free.rows], [0, 0, 0]);
  assert.deepEqual([quota.d1, quota.limits], [1, 1]);
  const silent = await start(t, { vars: limits });
  assert.equal((await silent.get("/x", who)).headers["penstock-trace"], undefined);
});

test("each refusal logs one line, and a passed request none", async (t) => {
  const vars = { LIMIT_LOGIN_PAGE: { route: "/login", per_ip: "2/min" }, LIMIT_API: { route: "/v1", per_key: "1/day" } };
  const edge = await start(t, { vars });
  const headers = [["cf-ray", "8f0123456789abcd-FRA"]];
  await inTurn(2, () => edge.get("/login", { ...who, headers }));
  await edge.get("/v1", { ...who, headers });
  const refused = [await edge.get("/login", { ...who, headers }), await edge.get("/v1", { ...who, headers })];
  assert.equal(count(refused, 429), 2);
  await until(() => edge.records.length >= 2);
  assert.equal(edge.records.length, 2, edge.records.map((record) => JSON.stringify(record)).join("\n"));
  assert.equal(edge.logs.length, 2, "and nothing else");
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

test("a flood of refusals is told of in full, and not in as many lines", async (t) => {
  const edge = await start(t, { vars: { LIMIT_X: { route: "/x", per_ip: "1/h" } } });
  const answers = await Promise.all(Array.from({ length: 600 }, () => edge.get("/x", who)));
  const refused = count(answers, 429);
  const told = () => edge.records.reduce((sum, record) => sum + (record.count ?? 1), 0);
  await until(() => told() >= refused);
  assert.equal(told(), refused);
  assert.ok(edge.records.length < refused || refused <= 100, `${edge.records.length} lines for ${refused}`);
});

test("a limit in shadow decides, counts and logs, and refuses nobody", async (t) => {
  const vars = {
    LIMIT_X: { route: "/x", per_ip: "2/min", per_key: "3/day", global: "4/min", mode: "shadow" },
    LIMIT_BASE: { per_ip: "100/min" },
  };
  const edge = await start(t, { vars });
  const answers = await inTurn(6, () => edge.get("/x", who));
  assert.equal(count(answers, 200), 6);
  assert.equal(edge.origin.count, 6);
  for (const answer of answers) assert.equal(rateHeaders(answer).limits[0].name, "base/ip", "a shadow is told to nobody");
  await until(() => edge.records.filter(({ limit }) => limit === "x/ip").length >= 4);
  assert.ok(edge.records.every(({ shadow }) => shadow === true));
  assert.equal(edge.records.filter(({ limit }) => limit === "x/ip").length, 4);
  assert.equal(edge.records.filter(({ limit }) => limit === "x/key").length, 3);
  const [{ used }] = await edge.d1("SELECT sum(used) AS used FROM quota");
  assert.equal(used, 3, "counted");
});

test("a limit that is off counts nothing", async (t) => {
  const edge = await start(t, { vars: { LIMIT_X: { route: "/x", per_ip: "1/min", per_key: "1/day", global: "1/min", mode: "off" } } });
  const answers = await parallel(10, () => edge.get("/x", who));
  assert.equal(count(answers, 200), 10);
  assert.equal(answers[0].headers.ratelimit, undefined);
  assert.equal((await edge.asked()).calls, 0);
  assert.equal(edge.logs.length, 0);
});

test("a shared limit is over capacity and says so to whoever is refused", async (t) => {
  const edge = await start(t, { vars: { LIMIT_X: { route: "/x", global: "4/min" } } });
  const answers = await inTurn(8, (index) => edge.get("/x", { ip: `203.0.113.${index}` }));
  assert.ok(count(answers, 200) <= 4 && count(answers, 200) >= 1);
  const body = refusal(answers[7], { reason: "over_capacity", limit: "x/global", scope: "global" }, edge.at);
  assert.match(body.detail, /\w/);
});

test("an exempt route meets no limit, not even base, whatever else it says", async (t) => {
  const vars = { LIMIT_BASE: { per_ip: "1/min", global: "1/min" }, LIMIT_HEALTH: { route: "/healthz", exempt: true } };
  const edge = await start(t, { vars });
  assert.equal(count(await parallel(20, () => edge.get("/healthz", who)), 200), 20);
  assert.equal((await edge.get("/x", who)).status, 200);
  refusal(await edge.get("/x", who), {}, edge.at);
});
