// Headers of refusals and of admitted answers: RateLimit, RateLimit-Policy, Retry-After,
// Penstock-Trace.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDictionary, parseItem, parseList } from "structured-headers";
import { count, inTurn, MINUTE, rateHeaders, refusal, start, until } from "./harness/index.mjs";

const ip = "203.0.113.7";
const who = { ip, key: "k" };

test("HDR-05: the rate headers of every answer are structured fields", async (t) => {
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
    assert.ok(limits.length >= 1);
    // Both lists begin with the same limit and have one order.
    assert.equal(limits[0].name, policies[0].name);
    const known = new Set(limits.map(({ name }) => name));
    assert.deepEqual(limits.map(({ name }) => name), policies.map(({ name }) => name).filter((name) => known.has(name)));
    assert.equal(new Set(policies.map(({ name }) => name)).size, policies.length, "each limit once");
    if (answer.status === 200) assert.equal(known.size, policies.length, "a request that passed knows them all");
    for (const { name } of policies) names.add(name);
    assert.ok(!/[^\x20-\x7e]/.test(answer.headers.ratelimit));
  }
  assert.ok(names.has("long-name/ip") && names.has("base/ip"), [...names].join());
  const refused = answers.find(({ status }) => status === 429);
  refusal(refused, { reason: refused.json.reason }, edge.at);
});

test("RateLimit-Policy names the limit's count and window", async (t) => {
  const vars = { LIMIT_X: { route: "/x", per_ip: "5/min" }, LIMIT_Y: { route: "/y", per_key: "100/day" } };
  const edge = await start(t, { vars });
  assert.equal((await edge.get("/x", who)).headers["ratelimit-policy"], '"x/ip";q=5;w=60');
  assert.equal((await edge.get("/y", who)).headers["ratelimit-policy"], '"y/key";q=100;w=86400');
});

test("a refusal names the policy of the refusing limit first and the caller's others after it", async (t) => {
  const vars = { LIMIT_BASE: { per_ip: "1200/min" }, LIMIT_LOGIN: { route: "POST /login", per_ip: "5/min" } };
  const edge = await start(t, { vars });
  const answers = await inTurn(6, () => edge.post("/login", who));
  refusal(answers[5], { limit: "login/ip" }, edge.at);
  assert.equal(answers[5].headers["ratelimit-policy"], '"login/ip";q=5;w=60, "base/ip";q=1200;w=60');
  assert.equal(answers[5].headers.ratelimit, '"login/ip";r=0;t=12, "base/ip";r=1195;t=1', "the refused one has paid at neither");
});

test("an admitted answer lists all of the caller's own limits, the tightest first, and no shared one", async (t) => {
  const vars = {
    LIMIT_BASE: { per_ip: "1200/min", global: "5000/s" },
    LIMIT_X: { route: "/x", per_ip: "60/min", per_key: ["3/s burst 9", "100/day"], global: "900/s" },
  };
  const edge = await start(t, { vars });
  const answers = await inTurn(2, () => edge.get("/x", who));
  const policies = ['"base/ip";q=1200;w=60', '"x/ip";q=60;w=60', '"x/key";q=3;w=1', '"x/key-2";q=100;w=86400'];
  for (const { headers } of answers) {
    assert.equal(headers["ratelimit-policy"], [policies[2], policies[0], policies[1], policies[3]].join(", "));
  }
  const midnight = 86_400 - (edge.at / 1_000) % 86_400;
  assert.equal(answers[1].headers.ratelimit, `"x/key";r=7;t=1, "base/ip";r=1198;t=1, "x/ip";r=58;t=1, "x/key-2";r=98;t=${midnight}`);
  assert.deepEqual(rateHeaders(await edge.get("/x", { ip })).policies.map(({ name }) => name), ["x/ip", "base/ip"], "without a key");
});

test("a binding's name stands in the names of its limits and caps", async (t) => {
  const vars = { LIMIT_ORDERS: { route: "/x", name: "Orders (v2) <&>", per_ip: "2/min", in_flight: "1" } };
  const edge = await start(t, { vars });
  assert.equal((await edge.get("/x", who)).headers.ratelimit, '"Orders (v2) <&>/ip";r=1;t=30');
  const held = edge.get("/x?as=held", { ip: "203.0.113.8" });
  await until(() => edge.origin.under === 1);
  const full = await edge.get("/x", who);
  assert.equal(full.json.limit, "Orders (v2) <&>/in-flight", "and its permits are lent all the same");
  edge.origin.release();
  await held;
  await edge.get("/x", who);
  const body = refusal(await edge.get("/x", who), { limit: "Orders (v2) <&>/ip" }, edge.at);
  assert.match(body.detail, /^Too many requests from this address: Orders \(v2\) <&>\/ip allows 2\/min\./);
  const page = await edge.get("/x", { ...who, headers: [["accept", "text/html"]] });
  assert.ok(page.text.includes("Orders (v2) &lt;&amp;&gt;/ip"), page.text);
});

test("a refusal by a full cap lists the caller's own limits behind it", async (t) => {
  const edge = await start(t, { vars: { LIMIT_X: { route: "/x", per_ip: "9/min", in_flight: "1" } } });
  const held = edge.get("/x?as=held", { ip });
  await until(() => edge.origin.under === 1);
  const full = await edge.get("/x", { ip });
  assert.equal(full.status, 503);
  assert.equal(full.headers["ratelimit-policy"], '"x/in-flight";q=1;qu="concurrent-requests", "x/ip";q=9;w=60');
  assert.match(full.headers.ratelimit, /^"x\/in-flight";r=0;t=\d+, "x\/ip";r=8;t=7$/);
  edge.origin.release();
  await held;
});

test("of several limits that refuse, the one with the longest wait is named", async (t) => {
  const vars = { LIMIT_X: { route: "/x", per_ip: ["2/s", "2/min", "2/h"] } };
  const edge = await start(t, { vars });
  const answers = await inTurn(3, () => edge.get("/x", who));
  refusal(answers[2], { limit: "x/ip-3", retry_after: 1800 }, edge.at);
});

test("a request that a shared limit refuses is told that it is over capacity", async (t) => {
  const edge = await start(t, { vars: { LIMIT_X: { route: "/x", global: "4/min" } } });
  const answers = await inTurn(8, (index) => edge.get("/x", { ip: `203.0.113.${index}` }));
  assert.ok(count(answers, 200) <= 4 && count(answers, 200) >= 1);
  const body = refusal(answers[7], { reason: "over_capacity", limit: "x/global", scope: "global" }, edge.at);
  assert.match(body.detail, /x\/global allows 4\/min for everyone together/);
});

test("HDR-07: a refusal on a cacheable URL is not cached", async (t) => {
  const edge = await start(t, { vars: { LIMIT_X: { route: "/*", per_ip: "1/min" } } });
  const path = "/style.css?as=status&status=200&h=Cache-Control:public,max-age=3600";
  assert.equal((await edge.get(path, who)).headers["cache-control"], "public,max-age=3600", "the origin's own header");
  refusal(await edge.get(path, who), {}, edge.at);
  await edge.advance(MINUTE);
  assert.equal((await edge.get(path, who)).status, 200);
});

const LEGACY = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];
const DRAFT = ["ratelimit", "ratelimit-policy"];
const DRAFT_6 = ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"];
const STYLES = {
  "draft-11": DRAFT,
  "draft-7": DRAFT,
  "draft-6": [...DRAFT_6, "ratelimit-policy"],
  legacy: LEGACY,
  "legacy-epoch": LEGACY,
  both: [...DRAFT, ...LEGACY],
  none: [],
};
for (const [style, has] of Object.entries(STYLES)) {
  test(`SDK-12: HEADERS = "${style}" sends ${has.join(", ") || "no rate headers"}, and web pages may read them`, async (t) => {
    const edge = await start(t, { vars: { HEADERS: style, LIMIT_X: { route: "/x", per_ip: "2/min" } } });
    const [first, , refused] = await inTurn(3, () => edge.get("/x", { ...who, headers: [["Origin", "https://app.example"]] }));
    assert.equal(first.status, 200);
    assert.equal(refused.status, 429);
    assert.equal(refused.headers["retry-after"], "30", "Retry-After is always there");
    const exposed = refused.headers["access-control-expose-headers"].toLowerCase().split(", ");
    for (const header of new Set([...DRAFT, ...DRAFT_6, ...LEGACY])) {
      for (const answer of [first, refused]) assert.equal(header in answer.headers, has.includes(header), `${header} at ${answer.status}`);
      assert.equal(exposed.includes(header), has.includes(header), `${header} is exposed`);
    }
    const due = style === "legacy-epoch" ? String(Math.ceil(edge.at / 1_000) + 30) : "30";
    for (const [answer, left] of [[first, 1], [refused, 0]]) {
      const { headers } = answer;
      const values = (names) => names.map((name) => headers[name]);
      if (has.includes(LEGACY[0])) assert.deepEqual(values(LEGACY), ["2", String(left), due]);
      if (style === "draft-6") {
        assert.deepEqual(DRAFT_6.map((name) => parseItem(headers[name])[0]), [2, left, 30]);
      }
      if (style === "draft-7") {
        const fields = [...parseDictionary(headers.ratelimit)].map(([name, [value]]) => [name, value]);
        assert.deepEqual(fields, [["limit", 2], ["remaining", left], ["reset", 30]]);
      }
      if (style === "draft-6" || style === "draft-7") {
        assert.deepEqual(parseList(headers["ratelimit-policy"]).map(([count, more]) => [count, ...more]), [[2, ["w", 60]]]);
      }
    }
  });
}

test("SDK-12: a client that reads the reset as a Unix time waits long enough", async (t) => {
  const edge = await start(t, { vars: { HEADERS: "legacy-epoch", LIMIT_X: { route: "/x", per_ip: "2/min" } } });
  await edge.advance(1);
  for (let time = 0; time < 5; time++) {
    const answers = await inTurn(3, () => edge.get("/x", who));
    const { headers } = answers.find(({ status }) => status === 429);
    assert.equal(headers["x-ratelimit-remaining"], "0");
    await edge.freeze(Number(headers["x-ratelimit-reset"]) * 1_000);
    assert.equal((await edge.get("/x", who)).status, 200);
  }
});

test("TRACE adds the cost of a decision, and without it no header does", async (t) => {
  const limits = { LIMIT_X: { route: "/x", per_ip: "2/h", per_key: "60/min", global: "100/s" }, LIMIT_Q: { route: "/q", per_key: "9/day" } };
  const edge = await start(t, { vars: { TRACE: "header", ...limits } });
  const answers = [...(await inTurn(3, () => edge.get("/x", who))), await edge.get("/free", who), await edge.get("/q", who)];
  const fields = (header) => [...parseDictionary(header)].map(([name, [value]]) => [name, value]);
  const traces = answers.map(({ headers }) => Object.fromEntries(fields(headers["penstock-trace"])));
  for (const trace of traces) {
    for (const name of ["actors", "d1", "rows", "wallet", "limits", "us"]) {
      assert.ok(Number.isSafeInteger(trace[name]) && trace[name] >= 0, `${name} in ${JSON.stringify(trace)}`);
    }
  }
  const [first, , refused, free, quota] = traces;
  assert.equal(first.limits, 3);
  assert.ok(first.actors >= 1 && first.actors <= 3);
  assert.ok(first.rows >= 1, "a debt of half an hour is stored");
  assert.equal(refused.rows, 0, "a refusal writes nothing");
  assert.deepEqual([free.actors, free.limits, free.rows], [0, 0, 0]);
  assert.deepEqual([quota.d1, quota.limits], [1, 1]);
  const silent = await start(t, { vars: limits });
  assert.equal((await silent.get("/x", who)).headers["penstock-trace"], undefined);
});
