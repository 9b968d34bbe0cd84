// Clients that leave in the middle of a request: no permit is lost, and a cap is never exceeded.
import assert from "node:assert/strict";
import http from "node:http";
import net from "node:net";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { count, HOST, open, parallel, start, until } from "./harness/index.mjs";

const ip = "203.0.113.7";
const CAP = 40;

/**
 * One request whose client leaves.
 *
 * @param {object} way `when` is "before" the answer or within its "body", `how` is a "reset" of the
 *   connection or an "end" of the client's side
 * @returns "left", or how the request ended before that
 */
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

/** A client that sends these bytes and can leave in the middle. */
function raw(edge, head, body = "") {
  const url = edge.url();
  const bytes = `${head.trimEnd()}\r\nHost: ${HOST}\r\nCF-Connecting-IP: ${ip}\r\n\r\n${body}`;
  const socket = net.connect(Number(url.port), url.hostname, () => socket.write(bytes));
  socket.on("error", () => {});
  socket.on("data", () => {});
  return socket;
}

test("a thousand clients that leave in the middle cost no permit", async (t) => {
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
  // Every permit for one isolate, then for the other: all are there, wherever they were held.
  for (const isolate of [0, 1]) {
    edge.origin.forget();
    const answers = await parallel(CAP, () => edge.get("/x?as=slow&ms=600", { ip, isolate }));
    assert.equal(count(answers, 200), CAP, `isolate ${isolate}`);
    assert.equal(edge.origin.most, CAP);
    await sleep(3_500);
  }
});

test("a permit whose client left serves another within seconds", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { route: "/*", in_flight: "1" } } });
  await edge.run();
  for (const when of ["before", "body"]) {
    for (const how of ["reset", "end"]) {
      assert.equal(await leaving(edge, { when, how }), "left");
      const took = await edge.untilAdmitted("/x", { ip });
      t.diagnostic(`${when} the answer, by ${how}: ${Math.round(took)} ms`);
      assert.ok(took < 4_500, `${when} ${how}: ${took} ms`);
    }
  }
});

test("a permit whose client left is free within seconds though the origin's body stands still", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { route: "/*", in_flight: "1" } } });
  await edge.run();
  const bytes = "Content-Length: 1000\r\n";
  for (const [what, head, body] of [
    ["events", "GET /x?as=events HTTP/1.1"],
    ["a declared length", "GET /x?as=stalled HTTP/1.1"],
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
    await edge.untilAdmitted("/x", { ip });
    const took = performance.now() - begun;
    t.diagnostic(`${what}: the origin heard after ${Math.round(heard)} ms, and the permit was free after ${Math.round(took)} ms`);
    assert.ok(heard < 1_000, `${what}: ${heard} ms`);
    assert.ok(took < 4_000, `${what}: ${took} ms`);
  }
});

test("a permit whose client left is held until the origin can have heard of it, though garbage is collected at once", async (t) => {
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

test("a permit whose client left while it waited for another cap is free within seconds", async (t) => {
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
