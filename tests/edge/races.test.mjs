// Many requests at once, from several isolates, and lost replies: the limit holds, and no token is
// charged twice.
import assert from "node:assert/strict";
import { test } from "node:test";
import { count, inTurn, MINUTE, parallel, refusal, SECOND, start } from "./harness/index.mjs";

test("of two hundred requests at once from one address, a limit of five sends exactly five to the origin", async (t) => {
  const edge = await start(t, { vars: { LIMIT_LOGIN: { route: "POST /login", per_ip: "5/min" } } });
  const answers = await parallel(200, () => edge.post("/login", { ip: "203.0.113.7" }));
  assert.equal(count(answers, 200), 5);
  assert.equal(count(answers, 429), 195);
  assert.equal(edge.origin.count, 5);
  for (const answer of answers.filter(({ status }) => status === 429)) {
    assert.equal(refusal(answer, { limit: "login/ip", scope: "ip" }, edge.at).retry_after % 12, 0);
  }
});

test("ATM-01: two isolates share one burst", async (t) => {
  const vars = {
    LIMIT_IP: { route: "/ip", per_ip: "60/min burst 10" },
    LIMIT_KEY: { route: "/key", per_key: "60/min burst 10" },
    LIMIT_ALL: { route: "/all", global: "60/min burst 10" },
  };
  const edge = await start(t, { vars, isolates: 2 });
  for (const path of ["/ip", "/key"]) {
    edge.origin.forget();
    await parallel(200, (index) => edge.get(path, { ip: "203.0.113.7", key: "k", isolate: index % 2 }));
    assert.equal(edge.origin.count, 10, path);
  }
  edge.origin.forget();
  await parallel(200, (index) => edge.get("/all", { ip: `203.0.113.${index}`, isolate: index % 2 }));
  assert.ok(edge.origin.count <= 10, `${edge.origin.count} of a burst of 10`);
  assert.ok(edge.origin.count >= 5, `${edge.origin.count} of a burst of 10: leases may float half of it, not more`);
});

test("ATM-01: a shared limit holds under six seconds of floods from two isolates", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { route: "/*", global: "20/s" } }, isolates: 2 });
  for (let tick = 0; tick < 60; tick++) {
    await parallel(20, (index) => edge.get("/", { ip: `203.0.113.${index}`, isolate: index % 2 }));
    await edge.advance(100);
  }
  assert.ok(edge.origin.count <= 20 + 20 * 6, `${edge.origin.count} in six seconds`);
  assert.ok(edge.origin.count >= 20 * 6 * 0.8, `${edge.origin.count} in six seconds: the limit has to be usable`);
});

test("ATM-02: a refused caller takes no token of a shared limit", async (t) => {
  const vars = { LIMIT_X: { route: "/x", per_ip: "1/min", global: "10/min" } };
  const edge = await start(t, { vars });
  const greedy = await inTurn(20, () => edge.get("/x", { ip: "203.0.113.200" }));
  assert.equal(count(greedy, 200), 1);
  const others = await inTurn(9, (index) => edge.get("/x", { ip: `203.0.113.${index}` }));
  assert.equal(count(others, 200), 9);
  refusal(await edge.get("/x", { ip: "203.0.113.99" }), { reason: "over_capacity", limit: "x/global", scope: "global" }, edge.at);
});

test("ATM-04: tokens that refused requests return never exceed the burst", async (t) => {
  const vars = { LIMIT_X: { route: "/x", per_ip: "10/min", global: "5/min", on_error: "closed" } };
  const edge = await start(t, { vars });
  const flood = (first = 0) => parallel(30, (index) => edge.get("/x", { ip: `203.0.113.${first + (index % 3)}` }));
  await edge.fail({ actor: { kind: "lost", times: 4, match: "shared" } });
  await flood();
  // While everyone together has no token, no actor is asked for a caller's own.
  await edge.advance(12 * SECOND);
  await edge.fail({ actor: { kind: "throw", flags: { overloaded: true }, times: 10, match: "ip/" } });
  await flood(10);
  await edge.fail({ actor: null });
  await flood();
  assert.ok(edge.origin.count <= 6, `${edge.origin.count} of 5/min and one more after 12 s`);
  edge.origin.forget();
  await edge.advance(MINUTE);
  await flood();
  assert.ok(edge.origin.count >= 1 && edge.origin.count <= 5, `${edge.origin.count} of 5/min, a minute later`);
});

test("ATM-05: a lost reply costs one token at most, and admits no unpaid request", async (t) => {
  const edge = await start(t, { vars: { LIMIT_X: { route: "/x", per_ip: "5/min", on_error: "closed" } } });
  await edge.fail({ actor: { kind: "lost", times: 1, flags: { retryable: true } } });
  const answers = await inTurn(12, () => edge.get("/x", { ip: "203.0.113.7" }));
  for (const answer of answers) assert.ok([200, 429, 503].includes(answer.status), `${answer.status}`);
  assert.ok(edge.origin.count === 4 || edge.origin.count === 5, `${edge.origin.count} of 5`);
});
