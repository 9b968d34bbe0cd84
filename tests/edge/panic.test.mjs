// The module traps, as a panic makes it, or an exception of JavaScript passes through its code. Its
// instance is then gone: requests under way in it are answered at once, and the next request has a
// new instance. No code of Penstock panics; this is for the day that some does.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { count, HOUR, inTurn, openSocket, problem, start, until } from "./harness/index.mjs";

const vars = {
  DURABLE_AFTER: "0s",
  LIMIT_BASE: { per_ip: "5/h" },
  LIMIT_ALL: { route: "/all", global: "8/h", per_ip: "100/h" },
  LIMIT_DAY: { route: "/day", per_key: "5/day", per_ip: "100/h" },
};

/** The answer, or undefined where there is none within `ms`. */
const within = (request, ms) => Promise.race([request, sleep(ms)]);

const failed = (answer) => {
  assert.ok(answer, "it is answered");
  assert.equal(answer.status, 503);
  problem(answer, { reason: "limiter_unavailable" });
  assert.equal(answer.headers["retry-after"], "1");
};

// A request reads the clock first; its actor reads it later, and the request once more after that.
for (const kind of ["trap", "error"]) {
  for (const skip of [0, 1, 3, 5]) {
    test(`a ${kind} at reading ${skip} of the clock fails the request under way, and no later one`, async (t) => {
      const edge = await start(t, { vars });
      const ip = "203.0.113.7";
      const key = "k";
      let passed = count(await inTurn(2, () => edge.get("/", { ip })), 200);
      assert.equal(passed, 2);
      assert.equal(count(await inTurn(3, () => edge.get("/all", { ip: "203.0.113.8" })), 200), 3);
      assert.equal(count(await inTurn(2, () => edge.get("/day", { ip: "203.0.113.9", key })), 200), 2);

      await edge.trip(kind, { skip });
      const victim = await within(edge.get("/", { ip }), 2_000);
      await edge.trip(kind, { times: 0 });
      failed(victim);

      const began = performance.now();
      const after = await inTurn(6, () => edge.get("/", { ip }));
      assert.ok(performance.now() - began < 3_000, "later requests are answered at once");
      passed += count(after, 200);
      for (const answer of after.filter(({ status }) => status !== 200)) problem(answer, { reason: "rate_limited" });
      assert.ok(passed >= 4 && passed <= 5, `${passed} of 5: the victim may have paid`);
      assert.ok(count(await inTurn(12, (index) => edge.get("/all", { ip: `198.51.100.${index}` })), 200) <= 5, "a shared rate");
      assert.ok(count(await inTurn(9, () => edge.get("/day", { ip: "203.0.113.9", key })), 200) <= 3, "a quota");
      await edge.advance(HOUR);
      assert.equal(count(await inTurn(6, () => edge.get("/", { ip })), 200), 5);
    });
  }
}

test("COR-01: a request under way in an instance that fails is answered in the format its client accepts", async (t) => {
  const edge = await start(t, { vars: { ...vars, CORS_ORIGINS: ["https://app.example", "*"] } });
  const told = async (headers, { method = "GET", ...trap } = {}) => {
    await edge.trip("trap", trap);
    const answer = await within(edge.send({ method, path: "/", ip: "203.0.113.7", headers }), 2_000);
    await edge.trip("trap", { times: 0 });
    assert.ok(answer, "it is answered");
    return answer;
  };
  for (const skip of [0, 2]) {
    const person = await told([["accept", "text/html"], ["accept-language", "zh"]], { skip });
    assert.equal(person.status, 503);
    assert.equal(person.headers["retry-after"], "1");
    assert.match(person.headers["content-type"], /^text\/html/);
    assert.match(person.text, /<html lang="zh-Hans">[^]*data-wait="1"/);
    assert.match((await told([["accept", "text/plain"]], { skip })).headers["content-type"], /^text\/plain/);
    const call = await told([["content-type", "application/grpc-web+proto"]], { skip, method: "POST" });
    assert.deepEqual([call.status, call.headers["grpc-status"]], [200, "14"]);
    const glance = await told([], { skip, method: "HEAD" });
    assert.deepEqual([glance.status, glance.text], [503, ""]);
    const listed = await told([["origin", "https://app.example"]], { skip });
    failed(listed);
    assert.equal(listed.headers["access-control-allow-credentials"], "true");
    assert.match(listed.headers["access-control-expose-headers"], /Retry-After/);
  }
});

test("a request is answered though the instance fails while it answers for the origin", async (t) => {
  const edge = await start(t, { vars });
  const answer = edge.get("/?as=slow&ms=2000", { ip: "203.0.113.7", headers: [["accept", "text/html"]] });
  await until(() => edge.origin.under === 1);
  await sleep(200);
  await edge.trip("trap");
  edge.origin.last.response.destroy();
  failed(await within(answer, 2_000));
  assert.equal((await edge.get("/", { ip: "203.0.113.8" })).status, 200);
});

test("requests that wait in an instance that fails are answered at once", async (t) => {
  const edge = await start(t, { vars });
  await edge.fail({ actor: { kind: "hang", ms: 20_000 } });
  const began = performance.now();
  const waiting = Array.from({ length: 20 }, (_, index) => edge.get("/", { ip: `203.0.113.${30 + index}` }));
  await sleep(200);
  await edge.fail({ actor: null });
  await edge.trip("trap");
  failed(await within(edge.get("/", { ip: "203.0.113.21" }), 2_000));
  await edge.trip("trap", { times: 0 });
  for (const request of waiting) failed(await within(request, 2_000));
  assert.ok(performance.now() - began < 4_000);
  assert.equal((await edge.get("/", { ip: "203.0.113.22" })).status, 200);
});

test("an answer that streams goes on after another request's trap", async (t) => {
  const edge = await start(t, { vars });
  const streaming = edge.get("/?as=held", { ip: "203.0.113.20" });
  await sleep(200);
  await edge.trip("trap");
  failed(await within(edge.get("/", { ip: "203.0.113.21" }), 2_000));
  await edge.trip("trap", { times: 0 });
  assert.equal((await edge.get("/", { ip: "203.0.113.22" })).status, 200);
  edge.origin.release();
  const { status, text } = await streaming;
  assert.deepEqual([status, text], [200, "first second"]);
});

test("a request at the origin is answered though the instance that sent it has failed", async (t) => {
  const edge = await start(t, { vars });
  const post = (path, ip) => edge.post(`${path}?as=slow&ms=2500&parts=1&bytes=5`, { ip, body: "order" });
  const [slow, gone] = [post("/slow", "203.0.113.20"), post("/gone", "203.0.113.21")];
  await until(() => edge.origin.under === 2);
  await edge.trip("trap");
  failed(await within(edge.get("/", { ip: "203.0.113.22" }), 2_000));
  await edge.trip("trap", { times: 0 });
  assert.equal((await edge.get("/", { ip: "203.0.113.23" })).status, 200);
  edge.origin.seen.find(({ url }) => url.startsWith("/gone")).response.destroy();
  const { status, text } = await slow;
  assert.deepEqual([status, text], [200, "xxxxxend"], "the client has no reason to send it again");
  problem(await gone, { reason: "origin_unreachable", status: 502 });
  assert.equal((await edge.get("/", { ip: "203.0.113.24" })).status, 200);
  assert.equal(edge.records.filter(({ place }) => place === "module").length, 1, "the new instance has not failed");
});

for (const sockets of [null, "5"]) {
  test(`a WebSocket goes on and closes well after another request's trap: sockets = ${sockets}`, async (t) => {
    const edge = await start(t, { vars: { LIMIT_BASE: { per_ip: "5/h", ...(sockets && { sockets }) } } });
    const { client: socket } = await openSocket(edge.url(), { path: "/", ip: "203.0.113.20" });
    t.after(() => socket.terminate());
    const heard = [];
    socket.on("message", (data) => heard.push(String(data)));
    socket.on("close", (code, reason) => heard.push(`${code} ${reason}`));
    socket.send("before");
    await until(() => heard.length === 1);
    await edge.trip("trap");
    failed(await within(edge.get("/", { ip: "203.0.113.21" }), 2_000));
    await edge.trip("trap", { times: 0 });
    assert.equal((await edge.get("/", { ip: "203.0.113.22" })).status, 200);
    socket.send("after");
    await until(() => heard.length === 2);
    socket.close(4001, "done");
    await until(() => heard.length === 3 && edge.origin.sockets === 0);
    assert.deepEqual(heard, ["before", "after", "4001 done"]);
    assert.deepEqual(edge.origin.closed, [{ code: 4001, reason: "done" }]);
  });
}
