// Clients that go away in the middle, and actors that crash: no slot is lost, and the cap is never exceeded.
import assert from "node:assert/strict";
import http from "node:http";
import net from "node:net";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { count, HOST, open, parallel, start, until } from "./harness/index.mjs";

const ip = "203.0.113.7";
const CAP = 40;

/** One request whose client leaves: `when` is "before" the answer or within its "body", `how` is a "reset" or an "end" of its side. */
function leaving(edge, { when, how, isolate }) {
  return new Promise((resolve) => {
    const url = edge.url(isolate);
    const path = when === "before" ? "/x?as=slow&ms=1500" : "/x?as=slow&ms=0&parts=1000&bytes=20000&every=20";
    const headers = { host: HOST, "cf-connecting-ip": ip };
    const request = http.get({ host: url.hostname, port: url.port, path, headers, agent: false }, (response) => {
      response.on("error", () => {});
      response.once("data", () => response.statusCode === 200 && leave("left"));
      response.on("end", () => resolve(response.statusCode));
    });
    const leave = (what) => {
      if (how === "reset") request.socket?.resetAndDestroy();
      else request.destroy();
      resolve(what);
    };
    request.on("error", () => resolve("error"));
    if (when === "before") setTimeout(leave, 150 + Math.random() * 200, "left");
  });
}

/** A client that says these bytes and can leave in the middle. */
function raw(edge, head, body = "") {
  const url = edge.url();
  const socket = net.connect(Number(url.port), url.hostname, () => socket.write(`${head.trimEnd()}\r\nHost: ${HOST}\r\nCF-Connecting-IP: ${ip}\r\n\r\n${body}`));
  socket.on("error", () => {});
  socket.on("data", () => {});
  return socket;
}

test("a thousand clients leave in the middle: in-flight is back to zero within a term, and no slot is lost", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { route: "/*", in_flight: String(CAP) } }, isolates: 2 });
  await edge.run();
  let left = 0;
  let gone = 0;
  const ways = ["before", "body"].flatMap((when) => ["reset", "end"].map((how) => ({ when, how })));
  await parallel(50, async (lane) => {
    while (left < 1_000) {
      const fate = await leaving(edge, { ...ways[gone++ % ways.length], isolate: lane % 2 });
      if (fate === "left") left++;
      else await sleep(20);
    }
  });
  const most = edge.origin.most;
  t.diagnostic(`${left} left, of ${edge.origin.count} at the origin, ${most} at once`);
  assert.ok(most <= CAP, `${most} at once`);
  assert.ok(edge.origin.count > 500, "most of them were under way");
  await until(() => edge.origin.under === 0);
  await sleep(10_500);
  // All slots for one isolate, then for the other: none is lost, wherever it was held.
  for (const isolate of [0, 1]) {
    edge.origin.forget();
    const answers = await parallel(CAP, () => edge.get("/x?as=slow&ms=600", { ip, isolate }));
    assert.equal(count(answers, 200), CAP, `isolate ${isolate}`);
    assert.equal(edge.origin.most, CAP);
    await sleep(3_500);
  }
});

test("a slot whose client has left serves another a few seconds later", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { route: "/*", in_flight: "1" } } });
  await edge.run();
  for (const when of ["before", "body"]) {
    for (const how of ["reset", "end"]) {
      assert.equal(await leaving(edge, { when, how }), "left");
      const begun = performance.now();
      await until(async () => (await edge.get("/x", { ip })).status === 200 || void (await sleep(20)));
      const took = performance.now() - begun;
      t.diagnostic(`${when} the answer, by ${how}: ${Math.round(took)} ms`);
      assert.ok(took < 4_500, `${when} ${how}: ${took} ms`);
    }
  }
});

test("a slot whose client has left is free within 3 seconds, though the origin's body stands still", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { route: "/*", in_flight: "1" } } });
  await edge.run();
  const bytes = "Content-Length: 1000\r\n";
  for (const [what, head, body] of [
    ["events", "GET /x?as=events HTTP/1.1"],
    ["a length that was said", "GET /x?as=stalled HTTP/1.1"],
    ["an upload whose answer has begun", `POST /x?as=echo HTTP/1.1\r\n${bytes}`, "some"],
    ["an upload whose answer has not", `POST /x HTTP/1.1\r\n${bytes}`, "some"],
  ]) {
    const client = raw(edge, head, body);
    await until(() => edge.origin.under === 1);
    await sleep(300);
    client.resetAndDestroy();
    const begun = performance.now();
    await until(() => edge.origin.under === 0);
    const heard = performance.now() - begun;
    await until(async () => (await edge.get("/x", { ip })).status === 200 || void (await sleep(20)));
    const took = performance.now() - begun;
    t.diagnostic(`${what}: the origin heard after ${Math.round(heard)} ms, and the slot was free after ${Math.round(took)} ms`);
    assert.ok(heard < 1_000, `${what}: ${heard} ms`);
    assert.ok(took < 4_000, `${what}: ${took} ms`);
  }
});

test("a slot whose client has left is not free before the origin may have heard of it, however soon garbage is collected", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { route: "/*", in_flight: "1" } }, inspect: true });
  await edge.run();
  for (let round = 0; round < 2; round++) {
    let left;
    const write = (request) => (left = request).end();
    open(edge.url(), { path: "/x?as=slow&ms=20000", ip, write }).catch(() => {});
    await until(() => edge.origin.under === 1);
    left.socket.resetAndDestroy();
    const begun = performance.now();
    await until(async () => (await edge.get("/x", { ip })).status === 200 || void (await edge.collect()));
    const took = performance.now() - begun;
    t.diagnostic(`${Math.round(took)} ms`);
    assert.ok(took >= 250 && took < 4_500, `${took} ms`);
  }
});

test("an answer to HEAD is whole with its head", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { route: "/*", in_flight: "1" } } });
  await edge.run();
  for (let round = 0; round < 5; round++) {
    assert.equal((await edge.send({ method: "HEAD", path: "/x?as=stalled", ip })).status, 200);
    await sleep(20);
  }
});

test("an answer with a status past 599 holds its slot until its last byte", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { route: "/*", in_flight: "1" } } });
  await edge.run();
  await parallel(4, async (index) => {
    await sleep(index * 200);
    await edge.get("/x?as=slow&ms=0&status=999&parts=20&bytes=100&every=100", { ip });
  });
  assert.equal(edge.origin.most, 1);
  await until(() => edge.origin.under === 0);
  const begun = performance.now();
  await until(async () => (await edge.get("/x", { ip })).status === 200 || void (await sleep(20)));
  assert.ok(performance.now() - begun < 1_000, "and no longer");
});

test("an answer with a status past 599 comes whole to a slow client, however long it is", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { route: "/*", in_flight: "1" } } });
  await edge.run();
  const bytes = 8_000_000;
  const { hostname: host, port } = edge.url();
  const headers = { host: HOST, "cf-connecting-ip": ip };
  const received = await new Promise((resolve, reject) => {
    const path = `/x?as=slow&ms=0&status=999&parts=8&bytes=${bytes / 8}&every=0`;
    const request = http.get({ host, port, path, headers, agent: false }, async (response) => {
      await sleep(1_000);
      let length = 0;
      response.on("data", (data) => (length += data.length));
      response.on("end", () => resolve({ status: response.statusCode, length }));
    });
    request.on("error", reject);
  });
  assert.deepEqual(received, { status: 999, length: bytes + "end".length });
});

test("a slot whose client has left is free within 3 seconds, also where it waited for another", async (t) => {
  const vars = {
    DEADLINE: "250ms",
    LIMIT_BASE: { in_flight: "1", wait: "5s" },
    LIMIT_X: { route: "/x", in_flight: "1" },
    LIMIT_Y: { route: "/y", in_flight: "5" },
  };
  const edge = await start(t, { vars });
  await edge.run();
  const other = edge.get("/y?as=slow&ms=2500", { ip });
  await until(() => edge.origin.under === 1);
  await leaving(edge, { when: "before", how: "reset" });
  await sleep(4_000);
  await other;
  assert.equal((await edge.get("/x", { ip })).status, 200);
});

test("what a busy isolate held goes back soon after its last request, whenever that is", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { route: "/*", in_flight: "5" } }, isolates: 2 });
  await edge.run();
  // One request looks after idle slots for twenty seconds, and has just one look left when nobody comes any more.
  const end = performance.now() + 20_000;
  await parallel(5, async () => {
    while (performance.now() < end) await edge.get("/x?as=slow&ms=100", { ip });
  });
  await sleep(5_000);
  assert.equal(count(await parallel(5, () => edge.get("/x?as=slow&ms=500", { ip, isolate: 1 })), 200), 5);
});

test("an actor that crashes again and again neither lets more in nor stops everyone for long", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { route: "/*", in_flight: "10" } }, isolates: 2 });
  await edge.run();
  let running = true;
  const passed = [];
  const traffic = parallel(40, async (lane) => {
    while (running) {
      const answer = await edge.get("/x?as=slow&ms=60", { ip, isolate: lane % 2 });
      if (answer.status === 200) passed.push(performance.now());
      else await sleep(15);
    }
  });
  for (let crash = 0; crash < 5; crash++) {
    await sleep(700);
    await edge.crash();
  }
  await sleep(1_000);
  running = false;
  await traffic;
  const gaps = passed.slice(1).map((at, index) => at - passed[index]);
  t.diagnostic(`${passed.length} passed, at most ${edge.origin.most} at once, longest gap ${Math.round(Math.max(...gaps))} ms`);
  assert.ok(edge.origin.most <= 10, `${edge.origin.most} at once`);
  assert.ok(Math.max(...gaps) < 2_000, `${Math.max(...gaps)} ms without anybody`);
});

test("when everything is started anew, what was held counts for a term, and then no more", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { route: "/*", in_flight: "4" } } });
  await edge.run();
  const lost = parallel(4, () => edge.get("/x?as=slow&ms=20000", { ip }).catch(() => {}));
  await until(() => edge.origin.under === 4);
  await edge.restart();
  await edge.run();
  await lost;
  const begun = performance.now();
  assert.equal((await edge.get("/x", { ip })).status, 503, "who had them may still be at work");
  await sleep(9_000);
  await until(async () => (await edge.get("/x", { ip })).status === 200 || void (await sleep(20)));
  const took = performance.now() - begun;
  t.diagnostic(`${Math.round(took)} ms`);
  assert.ok(took < 11_500, `${took} ms`);
  assert.equal(count(await parallel(4, () => edge.get("/x?as=slow&ms=500", { ip })), 200), 4);
});

test("nonsense from an actor lends nothing", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { route: "/*", in_flight: "4" } } });
  for (const text of ["1 999 999 999 999 10000 50 1", "2 4 4 4 0 10000 50 1", "1 4", "\u00ff", ""]) {
    await edge.fail({ actor: { kind: "reply", headers: { "penstock-slots": text } } });
    assert.equal((await edge.get("/x", { ip })).json.reason, "limiter_unavailable", text);
    await edge.advance(2_000);
  }
  await edge.fail({ actor: null });
  await edge.advance(16_000); // it is not left alone for longer
  assert.equal((await edge.get("/x", { ip })).status, 200);
});

test("without its actor a cap does what on_error says", async (t) => {
  const x = (on_error) => ({ route: `/${on_error}`, in_flight: "4", on_error });
  const vars = { DEADLINE: "100ms", LIMIT_A: x("closed"), LIMIT_B: x("open"), LIMIT_C: x("local") };
  const edge = await start(t, { vars });
  await edge.run();
  for (const mode of ["closed", "open", "local"]) await parallel(3, () => edge.get(`/${mode}?as=slow&ms=50`, { ip }));
  await sleep(2_500); // all given back
  await edge.fail({ actor: { kind: "throw" } });
  const passed = {};
  for (const mode of ["closed", "open", "local"]) {
    const answers = await parallel(20, () => edge.get(`/${mode}?as=slow&ms=300`, { ip }));
    passed[mode] = count(answers, 200);
    for (const answer of answers.filter(({ status }) => status !== 200)) assert.equal(answer.status, 503);
    if (mode === "closed") assert.equal(answers[0].json.reason, "limiter_unavailable");
  }
  assert.equal(passed.closed, 0);
  assert.equal(passed.open, 20);
  assert.ok(passed.local >= 1 && passed.local <= 4, `${passed.local}`);
  await edge.fail({ actor: null });
  await until(async () => (await edge.get("/closed", { ip })).status === 200);
});

test("a cap holds while its actor is slow, whatever DEADLINE is", async (t) => {
  const edge = await start(t, { vars: { DEADLINE: "5s", LIMIT_ALL: { route: "/*", in_flight: "4" } } });
  await edge.run();
  const long = parallel(4, () => edge.get("/x?as=slow&ms=9500", { ip }));
  await until(() => edge.origin.under === 4);
  await sleep(800);
  await edge.fail({ actor: { kind: "hang", ms: 6_000 } });
  await sleep(5_700);
  await parallel(4, () => edge.get("/x?as=slow&ms=1500", { ip }));
  await long;
  assert.equal(edge.origin.most, 4);
});
