// MODE: all limits and caps of a deployment in shadow or off, and all else as it was.
import assert from "node:assert/strict";
import { test } from "node:test";
import { count, inTurn, parallel, problem, refusal, start, until } from "./harness/index.mjs";

const who = { ip: "203.0.113.7", key: "k" };

const limits = {
  LIMIT_BASE: { per_ip: "2/min", timeout: "200ms" },
  LIMIT_X: { route: "/x", per_key: "3/day", global: "4/min" },
  LIMIT_OFF: { route: "/off", global: "1/min", mode: "off" },
};

/** The names of limits in the log lines, each as often as it is there. */
const logged = (edge) => edge.records.filter(({ event }) => event === "would_refuse").map(({ limit }) => limit);

test("in shadow every limit decides, counts and logs, and refuses no request", async (t) => {
  const edge = await start(t, { vars: { ...limits, MODE: "shadow" } });
  const answers = await inTurn(6, () => edge.get("/x", who));
  assert.equal(count(answers, 200), 6);
  assert.equal(answers[0].headers.ratelimit, undefined, "no answer mentions a limit in shadow");
  await until(() => logged(edge).length >= 9);
  const of = (name) => logged(edge).filter((limit) => limit === name).length;
  assert.deepEqual([of("base/ip"), of("x/key"), of("x/global")], [4, 3, 2]);
  assert.ok(edge.records.every(({ shadow }) => shadow === true));
  const [{ used }] = await edge.d1("SELECT sum(used) AS used FROM quota");
  assert.equal(used, 3, "counted");
});

test("in shadow a full cap holds and refuses no request, and logs them", async (t) => {
  const cap = { route: ["/slow/*", "/fast"], in_flight: "1", wait: "5s" };
  const edge = await start(t, { vars: { LIMIT_CAP: cap, MODE: "shadow" } });
  await edge.run();
  const slow = edge.get("/slow/1?as=held", who);
  await until(() => edge.origin.count === 1);
  const began = performance.now();
  assert.equal((await edge.get("/fast", who)).status, 200);
  assert.ok(performance.now() - began < 1_200, "not held for a permit");
  edge.origin.release();
  assert.equal((await slow).status, 200);
  await until(() => logged(edge).includes("cap/in-flight"));
  assert.ok(edge.records.every(({ event, shadow }) => event !== "refused" && (event !== "would_refuse" || shadow)));
});

test("off asks no actor, counts nothing and logs nothing", async (t) => {
  const vars = { ...limits, LIMIT_CAP: { route: "/cap", in_flight: "1", sockets: 1, wait: "1s" }, BUDGET: 1_000, MODE: "off" };
  const edge = await start(t, { vars });
  const paths = ["/x", "/cap", "/off", "/"];
  const answers = await parallel(20, (index) => edge.get(paths[index % 4], who));
  assert.equal(count(answers, 200), 20);
  assert.equal(answers[0].headers.ratelimit, undefined);
  assert.deepEqual([(await edge.asked()).calls, (await edge.asked()).d1], [0, 0]);
  assert.equal(edge.logs.length, 0);
});

for (const mode of ["shadow", "off"]) {
  test(`${mode}: block lists, timeout and a binding that is off are as they were`, async (t) => {
    const blocked = { BLOCK: "203.0.113.8", LIMIT_Y: { route: "/y", global: "1/min", block: "203.0.113.9" } };
    const edge = await start(t, { vars: { ...limits, ...blocked, MODE: mode } });
    problem(await edge.get("/x", { ip: "203.0.113.8" }), { status: 403, reason: "blocked" });
    problem(await edge.get("/y", { ip: "203.0.113.9" }), { status: 403, reason: "blocked" });
    assert.equal((await edge.get("/y", { ip: "203.0.113.10" })).status, 200);
    await edge.run();
    problem(await edge.get("/x?as=slow&ms=3000", who), { status: 504, reason: "origin_timeout" });
    assert.ok(!logged(edge).includes("off/global"));
  });
}

test("enforce is what is without MODE", async (t) => {
  const edge = await start(t, { vars: { ...limits, MODE: "enforce" } });
  assert.equal(count(await inTurn(2, () => edge.get("/x", who)), 200), 2);
  refusal(await edge.get("/x", who), {}, edge.at);
});
