// Faults that were found in forwarding, and their inputs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { problem, rateHeaders, rawRequest, sendRaw, start } from "./harness/index.mjs";

const ip = "203.0.113.7";

test("CF-03: a request that passes two zones with Penstock is no loop", async (t) => {
  const edge = await start(t, { outbound: true, origin: () => null, vars: { LIMIT_BASE: { per_ip: "1000/min" } } });
  assert.equal((await edge.get("/", { ip, host: "front.example" })).status, 200);
  const mark = edge.origin.last.headers["penstock-hop"];
  // A proxy at the first zone's origin passes on the headers that it does not know.
  const headers = [["penstock-hop", mark]];
  assert.equal((await edge.get("/", { ip, host: "back.example", headers })).status, 200);
  assert.equal((await edge.get("/", { ip, host: "front.example", headers })).status, 500, "the same zone twice is a loop");
});

test("PRX-12: the origin gets no loop mark that a client has made up", async (t) => {
  const vars = { LIMIT_BASE: { per_ip: "1000/min" }, LIMIT_CAP: { route: "/cap", in_flight: "9" } };
  const marks = (edge) => edge.origin.last.lines.filter(([name]) => name === "penstock-hop").map(([, value]) => value);
  for (const way of [{}, { outbound: true, origin: () => null }]) {
    const edge = await start(t, { vars, ...way });
    for (const path of ["/", "/cap"]) {
      await edge.get(path, { ip });
      const [own] = marks(edge);
      assert.match(own, /^[0-9a-f]{32}$/);
      const forged = [["penstock-hop", "mine"], ["Penstock-Hop", `${"g".repeat(32)}, <script>`]];
      assert.equal((await edge.get(path, { ip, headers: forged })).status, 200);
      assert.deepEqual(marks(edge), [own], path);
      const other = "0123456789abcdef0123456789abcdef";
      await edge.get(path, { ip, headers: [...forged, ["penstock-hop", other]] });
      assert.deepEqual(marks(edge), [`${other}, ${own}`], "the mark of another deployment, by which it knows a loop");
    }
  }
});

test("a status above 599 of the origin passes through", async (t) => {
  const edge = await start(t, { vars: { LIMIT_BASE: { per_ip: "1000/min" } } });
  for (const status of [600, 999]) {
    const answer = await edge.post(`/?as=status&status=${status}&body=b`, { ip, body: "order" });
    assert.equal(answer.status, status);
    assert.equal(answer.text, "b");
  }
  assert.equal(edge.origin.count, 2);
  assert.equal(rateHeaders(await edge.get("/?as=status&status=599", { ip })).limits[0].name, "base/ip");
});

test("a status above 599 of the origin passes through a cap, and frees its permit", async (t) => {
  const edge = await start(t, { vars: { LIMIT_BASE: { in_flight: "1" } } });
  for (const status of [600, 999, 204, 304, 999]) {
    const body = status < 600 ? "" : "b";
    const answer = await edge.post(`/?as=status&status=${status}&body=${body}`, { ip, body: "order" });
    assert.equal(answer.status, status, answer.text);
    assert.equal(answer.text, body);
  }
  assert.equal(edge.origin.count, 5);
});

test("SEC-01: a key in a query is not logged when its URL cannot be fetched", async (t) => {
  const vars = { KEY: "query:k", LIMIT_BASE: { per_key: "1000/min" } };
  const edge = await start(t, { outbound: true, origin: () => null, vars });
  const request = rawRequest({ host: "shop.example*", target: "/?k=hunter2", headers: [["CF-Connecting-IP", ip]] });
  const { status } = await sendRaw(edge.url(), request);
  assert.equal(status, 502);
  assert.ok(edge.logs.length > 0, "the failure is logged");
  assert.doesNotMatch(JSON.stringify(edge.logs), /hunter2/);
});

test("KEY-03: a blank key line before the key does not hide it", async (t) => {
  const edge = await start(t, { vars: { LIMIT_BASE: { per_key: "3/min" } } });
  const headers = [["x-api-key", ""], ["x-api-key", "real"]];
  const statuses = [];
  for (let sent = 0; sent < 5; sent++) statuses.push((await edge.get("/", { ip, headers })).status);
  assert.deepEqual(statuses, [200, 200, 200, 429, 429]);
});

test("a host that is no host is answered as an origin that cannot be reached, without Retry-After", async (t) => {
  for (const more of [{}, { TRACE: "header" }, { HEADERS: "none" }]) {
    const edge = await start(t, { outbound: true, origin: () => null, vars: { LIMIT_BASE: { per_ip: "1000/min" }, ...more } });
    for (const host of ["[::1", "shop.example:99999", "shop.example*", "a^b", "256.1.1.1"]) {
      const answer = await sendRaw(edge.url(), rawRequest({ host, headers: [["CF-Connecting-IP", ip]] }));
      problem(answer, { reason: "origin_unreachable", status: 502 });
      assert.equal(answer.headers["retry-after"], undefined, host);
    }
  }
});

test("HDR-06: an origin's RateLimit headers of an older draft stay unchanged and alone", async (t) => {
  const edge = await start(t, { vars: { LIMIT_BASE: { per_ip: "1000/min" }, LIMIT_CAP: { route: "/cap", in_flight: "9" } } });
  const lines = (...all) => all.map((line) => `h=${encodeURIComponent(line)}`).join("&");
  for (const path of ["/", "/cap"]) {
    const answer = (...own) => edge.get(`${path}?as=status&status=200&${lines(...own)}`, { ip });
    const old = await answer("RateLimit: limit=100, remaining=50, reset=5", "RateLimit-Policy: 100;w=60");
    assert.equal(old.headers.ratelimit, "limit=100, remaining=50, reset=5");
    assert.equal(old.headers["ratelimit-policy"], "100;w=60");
    const { headers } = await answer("RateLimit: 50", 'RateLimit: "o";r=1');
    assert.equal(headers.ratelimit, '50, "o";r=1');
    const blank = rateHeaders(await answer("RateLimit:", "RateLimit-Policy:"));
    assert.deepEqual([blank.limits[0].name, blank.policies[0].name], ["base/ip", "base/ip"]);
  }
});

test("HDR-06: rate headers that speak of one limit never stand beside the origin's", async (t) => {
  const lines = (...all) => all.map((line) => `h=${encodeURIComponent(line)}`).join("&");
  const own = {
    "draft-7": ["limit=1000, remaining=9, reset=1", "1000;w=60", undefined],
    "draft-6": ["", "1000;w=60", "9"],
  };
  for (const [style, [limit, policy, left]] of Object.entries(own)) {
    const edge = await start(t, { vars: { HEADERS: style, LIMIT_BASE: { per_ip: "1000/min" } } });
    const answer = async (...origin) => {
      const { headers } = await edge.get(`/?as=status&status=200&${lines(...origin)}`, { ip });
      return [headers.ratelimit, headers["ratelimit-policy"], headers["ratelimit-remaining"]];
    };
    const digits = (texts) => texts.map((text) => text?.replace(/(remaining=)?9\d\d\b/, "$19"));
    assert.deepEqual(digits(await answer("RateLimit:")), [limit, policy, left], "an empty one is none");
    assert.deepEqual(await answer("RateLimit: limit=7, remaining=5, reset=5"), ["limit=7, remaining=5, reset=5", undefined, undefined]);
    assert.deepEqual(await answer('RateLimit: "o";r=1;t=5'), ['"o";r=1;t=5', undefined, undefined]);
    assert.deepEqual(await answer("RateLimit-Remaining: 5"), [undefined, undefined, "5"]);
    assert.deepEqual(await answer("RateLimit-Policy: 100;w=60"), [undefined, "100;w=60", undefined]);
  }
});
