// Bodies in both directions, passed on part by part; and WebSockets.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { after, test } from "node:test";
import { count, open, openSocket, parallel, rawRequest, refusal, sendRaw, start, until } from "./harness/index.mjs";

const MIB = 2 ** 20;
const ip = "203.0.113.7";
const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

const vars = {
  LIMIT_BASE: { per_ip: "100000/min" },
  LIMIT_SPENT: { route: "/spent", per_ip: "1/h" },
  LIMIT_SOCKET: { route: "/socket", per_ip: "2/h" },
};
const edge = await start({ after }, { vars });
assert.equal((await edge.get("/spent", { ip })).status, 200);

test("twenty megabytes go up and come down unchanged", async () => {
  const body = randomBytes(20 * MIB);
  const answer = await edge.post("/up?as=echo", { ip, body });
  assert.equal(answer.status, 200);
  assert.equal(answer.body.length, body.length);
  assert.equal(sha256(answer.body), sha256(body));
  assert.equal(await edge.origin.last.whole, sha256(body));
  const length = edge.origin.last.headers["content-length"];
  assert.ok(length === undefined || Number(length) === body.length);
});

test("twenty megabytes come down unchanged without an upload", async () => {
  const answer = await edge.get(`/down?as=big&bytes=${20 * MIB}`, { ip });
  assert.equal(answer.body.length, 20 * MIB);
  assert.equal(sha256(answer.body), sha256(Buffer.alloc(20 * MIB, "x")));
});

test("the first part of an answer arrives before its last is sent", async () => {
  const { response } = await open(edge.url(), { path: "/?as=held", ip });
  const parts = response.setEncoding("utf8")[Symbol.asyncIterator]();
  assert.equal((await parts.next()).value, "first ");
  edge.origin.release();
  assert.equal((await parts.next()).value, "second");
  assert.ok((await parts.next()).done);
});

test("server-sent events arrive one by one", async () => {
  const { response } = await open(edge.url(), { path: "/?as=events", ip, headers: [["accept", "text/event-stream"]] });
  assert.equal(response.headers["content-type"], "text/event-stream");
  const events = response.setEncoding("utf8")[Symbol.asyncIterator]();
  assert.equal((await events.next()).value, "data: one\n\n");
  edge.origin.release();
  assert.equal((await events.next()).value, "data: two\n\n");
});

test("the first part of a request reaches the origin before its last is sent", async () => {
  edge.origin.forget();
  let request;
  const opened = open(edge.url(), {
    method: "POST",
    path: "/up?as=echo",
    ip,
    headers: [["transfer-encoding", "chunked"]],
    write: (it) => (request = it).write("first "),
  });
  await until(() => edge.origin.last?.received === 6);
  request.end("second");
  const { response } = await opened;
  let body = "";
  for await (const part of response.setEncoding("utf8")) body += part;
  assert.equal(body, "first second");
});

test("PRX-05: a refused POST with a large body is answered with 429", async () => {
  const answers = await parallel(5, () => edge.post("/spent", { ip, body: Buffer.alloc(MIB) }));
  for (const answer of answers) refusal(answer, { limit: "spent/ip" }, edge.at);
});

test("PRX-08: a client that uploads twenty megabytes reads its 429 long before their end", async () => {
  edge.origin.forget();
  const headers = [["CF-Connecting-IP", ip]];
  const whole = rawRequest({ method: "POST", target: "/spent", headers, body: Buffer.alloc(20 * MIB) });
  refusal(await sendRaw(edge.url(), whole.subarray(0, 64 * 1024)), { limit: "spent/ip" }, edge.at);
  assert.equal(edge.origin.count, 0);
  assert.equal(count(await parallel(5, () => edge.get("/fine", { ip })), 200), 5);
});

test("clients that leave in the middle harm no other request", async () => {
  const leave = async () => {
    const { request, response } = await open(edge.url(), { path: "/?as=held", ip });
    response.on("error", () => {});
    request.on("error", () => {});
    request.destroy();
  };
  await parallel(20, leave);
  assert.equal(count(await parallel(20, () => edge.get("/fine", { ip })), 200), 20);
  edge.origin.release();
});

test("PRX-01: a WebSocket is counted once, and refused before its upgrade", async () => {
  edge.origin.forget();
  const socket = (options = {}) => openSocket(edge.url(), { ip: "198.51.100.7", ...options });
  const first = await socket({ protocols: ["chat", "superchat"] });
  assert.equal(first.status, 101);
  assert.equal(first.client.protocol, "superchat");
  for (let frame = 0; frame < 20; frame++) {
    const sent = frame % 2 ? `text ${frame}` : randomBytes(1000);
    first.client.send(sent);
    const [data, isBinary] = await once(first.client, "message");
    assert.equal(isBinary, frame % 2 === 0);
    assert.ok(Buffer.from(sent).equals(data));
  }
  const second = await socket();
  assert.equal(second.status, 101, "twenty frames are not counted");
  const third = await socket();
  assert.equal(third.status, 429);
  assert.match(third.headers["retry-after"], /^[1-9][0-9]*$/);
  assert.equal(edge.origin.count, 2);
  first.client.close(4000, "done");
  const [code, reason] = await once(first.client, "close");
  assert.equal(code, 4000);
  assert.equal(String(reason), "done");
  second.client.terminate();
});
