// Requests that never reach the origin cost nothing of the day.
import assert from "node:assert/strict";
import http from "node:http";
import { test } from "node:test";
import { count, inTurn, problem, returnIdleQuota, start, usedQuota } from "./harness/index.mjs";

const caller = { ip: "203.0.113.7", key: "k" };
const ALL = { route: "/*" };
const TRACE = "header";

/** An origin on a port of its own, which a test shuts and opens again. */
async function ownOrigin(t, answer = (request, response) => response.end("ok")) {
  const origin = { server: undefined, port: 0, count: 0 };
  const listener = (request, response) => {
    origin.count += 1;
    answer(request, response);
  };
  origin.open = async () => {
    origin.server = http.createServer(listener);
    await new Promise((resolve) => origin.server.listen(origin.port, "127.0.0.1", resolve));
    origin.port = origin.server.address().port;
  };
  origin.shut = async () => {
    origin.server.closeAllConnections();
    await new Promise((resolve) => origin.server.close(resolve));
  };
  await origin.open();
  t.after(origin.shut);
  return origin;
}

/** The ways of a request to the origin: without another call of the module, and awaited in it. */
const WAYS = {
  forwarded: {},
  traced: { TRACE },
  "with a deadline": { fields: { timeout: "5s" } },
  "with a permit": { fields: { in_flight: "3" } },
};

for (const [way, { fields, ...vars }] of Object.entries(WAYS)) {
  test(`CHG-02: while the origin is out of reach the day stays as it is, ${way}`, async (t) => {
    const own = await ownOrigin(t);
    const limits = { per_key: "3/day", global: "1000/day", ...fields };
    const edge = await start(t, {
      vars: { LIMIT_ALL: { ...ALL, ...limits }, ...vars },
      origin: () => `http://127.0.0.1:${own.port}`,
    });
    await own.shut();
    const away = await inTurn(5, () => edge.get("/x", caller));
    for (const answer of away) problem(answer, { status: 502, reason: "origin_unreachable" });
    await own.open();
    const back = await inTurn(5, () => edge.get("/x", caller));
    assert.deepEqual(back.map(({ status }) => status), [200, 200, 200, 429, 429]);
    assert.equal(own.count, 3);
    await returnIdleQuota(edge);
    assert.equal(await usedQuota(edge), 6, "three of the key's, and three of what everyone shares");
  });

  test(`CHG-02: a request that the origin has had is used, though it hung up, ${way}`, async (t) => {
    const own = await ownOrigin(t, (request) => request.socket.destroy());
    const edge = await start(t, {
      vars: { LIMIT_ALL: { ...ALL, per_key: "3/day", ...fields }, ...vars },
      origin: () => `http://127.0.0.1:${own.port}`,
    });
    const answers = await inTurn(5, () => edge.get("/x", caller));
    assert.deepEqual(answers.map(({ status }) => status), [502, 502, 502, 429, 429]);
    assert.ok(own.count >= 3, `${own.count}`);
  });

  test(`CHG-02: Cloudflare's word that the origin is down costs nothing of the day, ${way}`, async (t) => {
    let status = 521;
    const own = await ownOrigin(t, (request, response) => response.writeHead(status, { server: "cloudflare" }).end("down"));
    const edge = await start(t, {
      vars: { LIMIT_ALL: { ...ALL, per_key: "3/day", ...fields }, ...vars },
      origin: () => `http://127.0.0.1:${own.port}`,
    });
    const away = await inTurn(5, () => edge.get("/x", caller));
    assert.deepEqual(away.map((answer) => [answer.status, answer.text]), Array(5).fill([521, "down"]));
    assert.ok(away.every(({ headers }) => headers.ratelimit), "as the origin's other answers");
    status = 520;
    const used = await inTurn(5, () => edge.get("/x", caller));
    assert.deepEqual(used.map((answer) => answer.status), [520, 520, 520, 429, 429]);
  });
}

test("CHG-02: an origin that answers too late has had the request", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { ...ALL, per_key: "3/day", timeout: "200ms" } } });
  await edge.run();
  const answers = await inTurn(5, () => edge.get("/x?as=slow&ms=2000", caller));
  assert.deepEqual(answers.map(({ status }) => status), [504, 504, 504, 429, 429]);
  for (const { response } of edge.origin.seen) response.destroy();
});

test("CHG-02: tokens of a day that were counted alone come back too", async (t) => {
  const own = await ownOrigin(t);
  const edge = await start(t, {
    vars: { LIMIT_ALL: { ...ALL, per_key: "3/day", on_error: "local" } },
    origin: () => `http://127.0.0.1:${own.port}`,
  });
  await edge.fail({ actor: { kind: "throw" } });
  await own.shut();
  assert.equal(count(await inTurn(5, () => edge.get("/x", caller)), 502), 5);
  await own.open();
  assert.equal(count(await inTurn(5, () => edge.get("/x", caller)), 200), 3);
});
