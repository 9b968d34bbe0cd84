// ALLOW and BLOCK: addresses that meet no limit, and addresses that are refused.
import assert from "node:assert/strict";
import { test } from "node:test";
import { count, inTurn, parallel, problem, start, until } from "./harness/index.mjs";

test("an allowed address meets no limit, and a blocked one is refused without a call", async (t) => {
  const vars = {
    ALLOW: "203.0.113.0/24, 2001:db8:1::/48",
    BLOCK: ["203.0.113.66", "2001:db8:1:bad::/64"],
    TRACE: "header",
    LIMIT_BASE: { per_ip: "2/min", global: "4/min", per_key: "2/day" },
  };
  const edge = await start(t, { vars });
  for (const ip of ["203.0.113.7", "2001:db8:1:2::7", "::ffff:203.0.113.8"]) {
    const answers = await parallel(20, () => edge.get("/", { ip, key: "k" }));
    assert.equal(count(answers, 200), 20, ip);
    assert.equal(answers[0].headers.ratelimit, undefined, "no limit is met, so the answer has no RateLimit");
  }
  assert.equal((await edge.asked()).calls, 0);
  edge.origin.forget();
  for (const ip of ["203.0.113.66", "2001:db8:1:bad::7", "::ffff:203.0.113.66"]) {
    const answer = await edge.get("/", { ip, key: "k" });
    const body = problem(answer, { reason: "blocked", status: 403 });
    assert.equal(answer.headers["retry-after"], undefined, "waiting does not help");
    assert.deepEqual([body.limit, body.retry_after, body.retry_at], [undefined, undefined, undefined]);
    assert.match(answer.headers["penstock-trace"], /actors=0/);
  }
  assert.equal(edge.origin.count, 0);
  const others = await inTurn(6, (index) => edge.get("/", { ip: `198.51.100.${index}` }));
  assert.equal(count(others, 200), 4, "the shared tokens are all there");
});

test("IP-01: an address that a client claims neither allows nor blocks it", async (t) => {
  const edge = await start(t, { vars: { ALLOW: "203.0.113.7", BLOCK: "203.0.113.66", LIMIT_BASE: { per_ip: "2/min" } } });
  const names = ["x-forwarded-for", "x-real-ip", "true-client-ip", "forwarded", "x-client-ip", "cf-connecting-ipv6"];
  const claims = (ip) => names.map((name) => [name, ip]);
  const answers = await inTurn(5, () => edge.get("/", { ip: "198.51.100.1", headers: claims("203.0.113.7") }));
  assert.equal(count(answers, 200), 2);
  assert.equal((await edge.get("/", { ip: "198.51.100.2", headers: claims("203.0.113.66") })).status, 200);
  assert.equal((await edge.get("/", { ip: "203.0.113.66", headers: claims("203.0.113.7") })).status, 403);
});

test("a binding's block list is for its own route, in any spelling of the path", async (t) => {
  const vars = {
    LIMIT_ADMIN: { route: "/admin/*", block: "203.0.113.0/24", message: "Use the office network." },
    LIMIT_S: { route: "/s", block: "203.0.113.7", mode: "shadow" },
  };
  const edge = await start(t, { vars });
  const ip = "203.0.113.7";
  for (const path of ["/admin", "/admin/x", "//admin/x", "/%61dmin/x"]) {
    problem(await edge.get(path, { ip }), { reason: "blocked", message: "Use the office network." });
  }
  assert.equal((await edge.get("/s", { ip })).status, 200, "a list in shadow refuses no request");
  assert.equal((await edge.get("/", { ip })).status, 200);
  assert.equal((await edge.get("/admin", { ip: "198.51.100.1" })).status, 200);
  await until(() => edge.records.length >= 5);
  const [first] = edge.records;
  const { caller, request_id, ...rest } = first;
  assert.deepEqual(rest, { event: "refused", reason: "blocked", binding: "admin", method: "GET", path: "/admin" });
  assert.match(request_id, /^[0-9a-f]{16}$/);
  assert.match(caller, /^[0-9a-f]{32}$/);
  assert.equal(edge.records.find(({ binding }) => binding === "s").shadow, true);
  assert.ok(!JSON.stringify(edge.logs).includes(ip));
});
