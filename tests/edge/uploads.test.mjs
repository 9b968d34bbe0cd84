// Bodies of requests where a cap or a bound applies: how long they may take, and who is blamed.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import net from "node:net";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { HOST, open, parallel, problem, start, until } from "./harness/index.mjs";

const ip = "203.0.113.7";
const ALL = { route: "/*" };
const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

/** A client that sends the head of a request, and then whatever a test writes to `socket`. */
function begin(edge, { method = "POST", path = "/x", from = ip, headers = ["Content-Length: 1000"] } = {}) {
  const socket = net.connect(Number(edge.url().port), edge.url().hostname);
  const client = { socket, text: "", begun: performance.now() };
  client.ended = new Promise((resolve) => {
    socket.on("data", (data) => {
      client.text += data;
      client.took ??= performance.now() - client.begun;
    });
    socket.on("error", () => {});
    socket.on("close", resolve);
  });
  socket.write([`${method} ${path} HTTP/1.1`, `Host: ${HOST}`, `CF-Connecting-IP: ${from}`, ...headers, "", ""].join("\r\n"));
  return client;
}

/** The status of the answer that a client of `begin` has got so far; 0 without one. */
const statusOf = ({ text }) => Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0);

/** Sends `body` in `parts`, one each `every` milliseconds, and returns the answer. */
async function sendSlowly(edge, { body, parts, every, ...options }) {
  const size = Math.ceil(body.length / parts);
  const write = async (request) => {
    for (let at = 0; at < body.length; at += size) {
      request.write(body.subarray(at, at + size));
      await sleep(every);
    }
    request.end();
  };
  const headers = [["content-length", String(body.length)]];
  const { response } = await open(edge.url(), { method: "POST", ip, headers, write, ...options });
  const chunks = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) };
}

test("CAP-11: the time of an upload is not the origin's, with a cap and without", async (t) => {
  for (const cap of [{}, { in_flight: "5" }]) {
    const edge = await start(t, { vars: { LIMIT_ALL: { ...ALL, timeout: "500ms", ...cap } } });
    await edge.run();
    const body = randomBytes(3_000);
    for (const method of ["POST", "GET"]) {
      const answer = await sendSlowly(edge, { method, path: "/x?as=slow&ms=100", body, parts: 6, every: 250 });
      assert.equal(answer.status, 200, `${method} ${answer.body}`);
      assert.equal(edge.origin.last.received, body.length);
      assert.equal(await edge.origin.last.whole, sha256(body));
    }
    const late = await sendSlowly(edge, { path: "/x?as=slow&ms=3000", body, parts: 2, every: 250 });
    assert.equal(late.status, 504, "the origin's own time begins with the last byte");
  }
});

test("CAP-11: a body that stops is ended by `upload`, in words of its own", async (t) => {
  const vars = {
    LIMIT_CAP: { route: "/cap", in_flight: "1", timeout: "300ms", upload: "800ms" },
    LIMIT_FREE: { route: "/free", upload: "800ms" },
  };
  const edge = await start(t, { vars });
  await edge.run();
  for (const [path, method, headers] of [
    ["/cap", "POST", ["Content-Length: 1000"]],
    ["/cap", "GET", ["Content-Length: 1000"]],
    ["/cap", "PUT", ["Transfer-Encoding: chunked"]],
    ["/free", "POST", ["Content-Length: 1000"]],
  ]) {
    edge.logs.length = 0;
    const client = begin(edge, { path, method, headers });
    client.socket.write(headers[0].startsWith("T") ? "4\r\nsome\r\n" : "some");
    await client.ended;
    assert.equal(statusOf(client), 408, `${method} ${path}: ${client.text}`);
    assert.ok(client.took >= 700 && client.took < 2_000, `${client.took} ms`);
    const [head, text] = client.text.split("\r\n\r\n");
    const parsed = Object.fromEntries(head.split("\r\n").slice(1).map((line) => [line.split(": ")[0].toLowerCase(), line.split(": ")[1]]));
    const json = JSON.parse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1));
    problem({ status: 408, headers: parsed, text, json }, { reason: "upload_timeout", title: "Request timeout" });
    await until(() => edge.origin.under === 0);
    const [line] = edge.records.filter(({ reason }) => reason === "upload_timeout");
    assert.deepEqual([line.event, line.method, line.path], ["refused", method, path]);
    assert.match(line.caller, /^[0-9a-f]{32}$/);
    await edge.untilAdmitted(path, { ip });
  }
  const page = begin(edge, { path: "/free", headers: ["Content-Length: 9", "Accept: text/html", "Accept-Language: zh"] });
  await page.ended;
  assert.match(page.text, /上传超时/);
});

test("CAP-11: an origin that does not read is late itself", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { ...ALL, in_flight: "5", timeout: "500ms", upload: "10s" } } });
  await edge.run();
  edge.origin.handler = (request) => request.pause();
  const client = begin(edge, { headers: ["Content-Length: 50000000"] });
  client.socket.write(Buffer.alloc(50_000_000));
  await client.ended;
  assert.equal(statusOf(client), 504, client.text);
  edge.origin.handler = undefined;
  await edge.untilAdmitted("/x", { ip });
});

test("CAP-11: what is bounded passes unchanged, in both directions at once", async (t) => {
  const vars = { LIMIT_CAP: { route: "/cap", in_flight: "5" }, LIMIT_TIMED: { route: "/timed", timeout: "1s", upload: "1s" } };
  const edge = await start(t, { vars });
  await edge.run();
  for (const path of ["/cap", "/timed"]) {
    const body = randomBytes(20 * 2 ** 20);
    const answer = await edge.post(`${path}?as=echo`, { ip, body });
    assert.equal(sha256(answer.body), sha256(body));
    assert.equal(edge.origin.last.headers["content-length"], String(body.length));
    for (const method of ["GET", "DELETE", "PROPFIND"]) {
      await edge.send({ method, path, ip, body: "some" });
      assert.equal(edge.origin.last.received, 4, method);
    }
    await edge.send({ method: "POST", path, ip, body: "" });
    assert.equal(edge.origin.last.headers["content-length"], "0");
    // The origin answers at once, and goes on reading.
    const slow = await sendSlowly(edge, { path: `${path}?as=echo`, body: body.subarray(0, 3_000), parts: 6, every: 300 });
    assert.deepEqual([slow.status, sha256(slow.body)], [200, sha256(body.subarray(0, 3_000))]);
  }
});

test("CAP-11: a body that stops after the answer has begun breaks off the exchange", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { ...ALL, in_flight: "1", upload: "500ms" } } });
  await edge.run();
  const client = begin(edge, { path: "/x?as=echo" });
  client.socket.write("some");
  await client.ended;
  assert.equal(statusOf(client), 200);
  await until(() => edge.origin.under === 0);
  await edge.untilAdmitted("/x", { ip });
});

test("CAP-10: a body that stands still or drips is ended after three seconds while others wait for a full cap", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { ...ALL, in_flight: "2" } } });
  await edge.run();
  const [still, drips] = [begin(edge), begin(edge)];
  await until(() => edge.origin.under === 2);
  const drip = setInterval(() => drips.socket.write("x"), 500);
  t.after(() => clearInterval(drip));
  await sleep(4_500);
  assert.deepEqual([statusOf(still), statusOf(drips)], [0, 0], "nobody waits");
  const begun = performance.now();
  const took = await edge.untilAdmitted("/x", { ip: "203.0.113.8" });
  await Promise.all([still.ended, drips.ended]);
  assert.deepEqual([statusOf(still), statusOf(drips)], [408, 408]);
  t.diagnostic(`admitted after ${Math.round(took)} ms, the last ended after ${Math.round(performance.now() - begun)} ms`);
  assert.ok(took < 2_000, `${took} ms`);
});

test("CAP-10: a body that comes steadily is not ended while others wait, and a cap in shadow ends none", async (t) => {
  const vars = { LIMIT_ALL: { ...ALL, in_flight: "1" }, LIMIT_SHADOW: { route: "/shadow", in_flight: "1", mode: "shadow" } };
  const edge = await start(t, { vars });
  await edge.run();
  const steady = sendSlowly(edge, { path: "/x", body: randomBytes(10_000), parts: 10, every: 600 });
  const shadow = begin(edge, { path: "/shadow" });
  await until(() => edge.origin.under === 2);
  const end = performance.now() + 5_000;
  while (performance.now() < end) {
    await parallel(2, (index) => edge.get(index ? "/x" : "/shadow", { ip: "203.0.113.8" }));
    await sleep(200);
  }
  assert.equal((await steady).status, 200);
  assert.equal(statusOf(shadow), 0);
  shadow.socket.destroy();
  await once(shadow.socket, "close");
});
