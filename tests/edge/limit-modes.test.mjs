// Limits that refuse no request: in shadow, switched off, and on exempt routes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { count, inTurn, parallel, rateHeaders, refusal, start, until } from "./harness/index.mjs";

const who = { ip: "203.0.113.7", key: "k" };

test("a limit in shadow counts and logs, and refuses no request", async (t) => {
  const vars = {
    LIMIT_X: { route: "/x", per_ip: "2/min", per_key: "3/day", global: "4/min", mode: "shadow" },
    LIMIT_BASE: { per_ip: "100/min" },
  };
  const edge = await start(t, { vars });
  const answers = await inTurn(6, () => edge.get("/x", who));
  assert.equal(count(answers, 200), 6);
  assert.equal(edge.origin.count, 6);
  for (const answer of answers) assert.equal(rateHeaders(answer).limits[0].name, "base/ip", "no answer mentions a limit in shadow");
  await until(() => edge.records.filter(({ limit }) => limit === "x/ip").length >= 4);
  assert.ok(edge.records.every(({ shadow }) => shadow === true));
  assert.equal(edge.records.filter(({ limit }) => limit === "x/ip").length, 4);
  assert.equal(edge.records.filter(({ limit }) => limit === "x/key").length, 3);
  const [{ used }] = await edge.d1("SELECT sum(used) AS used FROM quota");
  assert.equal(used, 3, "counted");
});

test("a limit that is off counts no request", async (t) => {
  const edge = await start(t, { vars: { LIMIT_X: { route: "/x", per_ip: "1/min", per_key: "1/day", global: "1/min", mode: "off" } } });
  const answers = await parallel(10, () => edge.get("/x", who));
  assert.equal(count(answers, 200), 10);
  assert.equal(answers[0].headers.ratelimit, undefined);
  assert.equal((await edge.asked()).calls, 0);
  assert.equal(edge.logs.length, 0);
});

test("an exempt route meets no limit, not even base", async (t) => {
  const vars = { LIMIT_BASE: { per_ip: "1/min", global: "1/min" }, LIMIT_HEALTH: { route: "/healthz", exempt: true } };
  const edge = await start(t, { vars });
  assert.equal(count(await parallel(20, () => edge.get("/healthz", who)), 200), 20);
  assert.equal((await edge.get("/x", who)).status, 200);
  refusal(await edge.get("/x", who), {}, edge.at);
});
