// Bodies in both directions, as they come and not when they are whole; and WebSockets.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { after, before, test } from "node:test";
import WebSocket from "ws";
import { count, HOST, open, parallel, rawRequest, refusal, sendRaw, start, until } from "./harness/index.mjs";

const MIB = 2 ** 20;
const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

let edge;
const late = [];
before(async () => {
  const vars = {
    LIMIT_BASE: { per_ip: "100000/min" },
    LIMIT_SPENT: { route: "/spent", per_ip: "1/h" },
    LIMIT_SOCKET: { route: "/socket", per_ip: "2/h" },
  };
  edge = await start({ after: (stop) => late.push(stop) }, { vars });
  await edge.get("/spent", { ip: "203.0.113.7" });
});
after(() => Promise.all(late.map((stop) => stop())));

const ip = "203.0.113.7";

test("twenty megabytes go up and come down untouched", async () => {
  const body = randomBytes(20 * MIB);
  const answer = await edge.post("/up?as=echo", { ip, body });
  assert.equal(answer.status, 200);
  assert.equal(answer.body.length, body.length);
  assert.equal(sha256(answer.body), sha256(body));
  assert.equal(await edge.origin.last.whole, sha256(body));
  const length = edge.origin.last.headers["content-length"];
  assert.ok(length === undefined || Number(length) === body.length);
});

test("twenty megabytes come down alone", async () => {
  const answer = await edge.get(`/down?as=big&bytes=${20 * MIB}`, { ip });
  assert.equal(answer.body.length, 20 * MIB);
  assert.equal(sha256(answer.body), sha256(Buffer.alloc(20 * MIB, "x")));
});

test("an answer's first part arrives before its last is sent", async () => {
  const { response } = await open(edge.url(), { path: "/?as=held", ip });
  const parts = response.setEncoding("utf8")[Symbol.asyncIterator]();
  assert.equal((await parts.next()).value, "first ");
  edge.origin.release();
  assert.equal((await parts.next()).value, "second");
  assert.ok((await parts.next()).done);
});

test("events arrive one by one", async () => {
  const { response } = await open(edge.url(), { path: "/?as=events", ip, headers: [["accept", "text/event-stream"]] });
  assert.equal(response.headers["content-type"], "text/event-stream");
  const events = response.setEncoding("utf8")[Symbol.asyncIterator]();
  assert.equal((await events.next()).value, "data: one\n\n");
  edge.origin.release();
  assert.equal((await events.next()).value, "data: two\n\n");
});

test("a request's first part reaches the origin before its last is sent", async () => {
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

test("prx_05_a_refused_post_with_a_large_body_is_a_429", async () => {
  const answers = await parallel(5, () => edge.post("/spent", { ip, body: Buffer.alloc(MIB) }));
  for (const answer of answers) refusal(answer, { limit: "spent/ip" }, edge.at);
});

test("prx_08_a_client_that_uploads_twenty_megabytes_reads_its_429_long_before_their_end", async () => {
  edge.origin.forget();
  const headers = [["CF-Connecting-IP", ip]];
  const whole = rawRequest({ method: "POST", target: "/spent", headers, body: Buffer.alloc(20 * MIB) });
  refusal(await sendRaw(edge.url(), whole.subarray(0, 64 * 1024)), { limit: "spent/ip" }, edge.at);
  assert.equal(edge.origin.count, 0);
  assert.equal(count(await parallel(5, () => edge.get("/fine", { ip })), 200), 5);
});

test("a client that goes away in the middle harms nobody", async () => {
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

/** A socket through the edge, or the status of the refusal. */
async function socket(address, protocols = []) {
  const url = `${edge.url().href.replace("http", "ws")}socket`;
  const client = new WebSocket(url, protocols, { headers: { Host: HOST, "CF-Connecting-IP": address } });
  const refused = once(client, "unexpected-response").then(([request, response]) => {
    request.destroy();
    return { status: response.statusCode, headers: response.headers };
  });
  const opened = once(client, "open").then(() => ({ status: 101, client }));
  client.on("error", () => {});
  refused.catch(() => {});
  opened.catch(() => {});
  return Promise.race([opened, refused]);
}

test("prx_01_a_websocket_is_counted_once_and_refused_before_its_upgrade", async () => {
  edge.origin.forget();
  const address = "198.51.100.7";
  const first = await socket(address, ["chat", "superchat"]);
  assert.equal(first.status, 101);
  assert.equal(first.client.protocol, "superchat");
  for (let frame = 0; frame < 20; frame++) {
    const sent = frame % 2 ? `text ${frame}` : randomBytes(1000);
    first.client.send(sent);
    const [data, isBinary] = await once(first.client, "message");
    assert.equal(isBinary, frame % 2 === 0);
    assert.ok(Buffer.from(sent).equals(data));
  }
  const second = await socket(address);
  assert.equal(second.status, 101, "twenty frames took nothing");
  const third = await socket(address);
  assert.equal(third.status, 429);
  assert.match(third.headers["retry-after"], /^[1-9][0-9]*$/);
  assert.equal(edge.origin.count, 2);
  first.client.close(4000, "done");
  const [code, reason] = await once(first.client, "close");
  assert.equal(code, 4000);
  assert.equal(String(reason), "done");
  second.client.terminate();
});
