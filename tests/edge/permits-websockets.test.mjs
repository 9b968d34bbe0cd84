// A cap on live WebSockets: relayed untouched, held until they close, however they close.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import net from "node:net";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import WebSocket from "ws";
import { HOST, parallel, start, until } from "./harness/index.mjs";

/** A socket through the edge, or the status of the refusal. */
async function socket(edge, path = "/socket", protocols = []) {
  const client = new WebSocket(`${edge.url().href.replace("http", "ws")}${path.slice(1)}`, protocols, {
    headers: { Host: HOST, "CF-Connecting-IP": "203.0.113.7" },
  });
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

const free = (edge) =>
  until(async () => {
    const { status, client } = await socket(edge);
    client?.terminate();
    if (status !== 101) await sleep(50);
    return status === 101;
  });

test("two sockets live and the third is refused, for as long as both live", async (t) => {
  const edge = await start(t, { vars: { LIMIT_SOCKET: { route: "/socket", sockets: "2", in_flight: "1" } } });
  await edge.run();
  const [first, second] = [await socket(edge, "/socket", ["chat", "superchat"]), await socket(edge)];
  assert.deepEqual([first.status, second.status], [101, 101], "the slot of the request is free after the 101");
  assert.equal(first.client.protocol, "superchat");
  for (let round = 0; round < 10; round++) {
    const third = await socket(edge);
    assert.equal(third.status, 503);
    assert.match(third.headers["retry-after"], /^[123]$/);
    await sleep(500);
  }
  for (const sent of ["text", randomBytes(100_000), "", "ünï"]) {
    first.client.send(sent);
    const [data, isBinary] = await once(first.client, "message");
    assert.equal(isBinary, typeof sent !== "string");
    assert.ok(Buffer.from(sent).equals(data));
  }
  first.client.close(4000, "done");
  const [code, reason] = await once(first.client, "close");
  assert.deepEqual([code, String(reason)], [4000, "done"]);
  await until(() => edge.origin.closed.length === 1);
  assert.deepEqual(edge.origin.closed, [{ code: 4000, reason: "done" }]);
  await free(edge);
  second.client.terminate();
});

test("a socket's slot is free however it ends", async (t) => {
  const edge = await start(t, { vars: { LIMIT_SOCKET: { route: "/socket", sockets: "1" } } });
  await edge.run();
  for (const end of [
    (client) => client.send("close 4001 bye"),
    (client) => client.close(),
    (client) => client.terminate(),
    (client) => client._socket.resetAndDestroy(),
    (client) => client.send("drop"),
  ]) {
    let opened;
    await until(async () => (opened = await socket(edge)).status === 101);
    const closed = once(opened.client, "close");
    end(opened.client);
    const [code, reason] = await closed;
    if (String(end).includes("4001")) assert.deepEqual([code, String(reason)], [4001, "bye"]);
    if (String(end).includes("drop")) assert.equal(code, 1001);
    const begun = performance.now();
    await free(edge);
    assert.ok(performance.now() - begun < 4_500, `${end}: ${performance.now() - begun} ms`);
    await until(() => edge.origin.sockets === 0);
  }
});

test("an upgrade that the origin does not grant holds no socket", async (t) => {
  const edge = await start(t, { vars: { LIMIT_SOCKET: { route: "/socket", sockets: "1" } } });
  await edge.run();
  for (let round = 0; round < 3; round++) {
    assert.equal((await socket(edge, "/socket?as=refused")).status, 403);
  }
});

test("whatever code a client ends with, the origin hears of the end, and no more are open than may be", async (t) => {
  const edge = await start(t, { vars: { LIMIT_BASE: { sockets: "2" } } });
  await edge.run();
  const lines = ["GET / HTTP/1.1", "Host: shop.example", "CF-Connecting-IP: 203.0.113.7", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13"];
  let most = 0;
  for (const code of [0, 999, 1004, 1005, 1006, 1015, 2999, 5000, 65535, 1000]) {
    const socket = net.connect(Number(edge.url().port), edge.url().hostname, () => socket.write(`${lines.join("\r\n")}\r\n\r\n`));
    t.after(() => socket.destroy());
    const [head] = await once(socket, "data");
    assert.match(String(head), /^HTTP\/1\.1 101 /, `before ${code}`);
    await until(() => edge.origin.sockets > 0);
    most = Math.max(most, edge.origin.sockets);
    socket.write(Buffer.from([0x88, 0x82, 0, 0, 0, 0, code >> 8, code & 0xff]));
    await until(() => edge.origin.sockets === 0);
    // A slot is free a moment after the origin was told.
    await sleep(300);
  }
  assert.equal(most, 1);
});

test("no more sockets are open at the origin than may be, while clients come and go", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { route: "/*", sockets: "1" } } });
  await edge.run();
  const end = performance.now() + 3_000;
  let most = 0;
  const lanes = parallel(4, async () => {
    while (performance.now() < end) {
      await new Promise((resolve) => {
        const client = new WebSocket(edge.url().href.replace("http", "ws"), { headers: { Host: HOST, "CF-Connecting-IP": "203.0.113.7" } });
        client.on("error", () => {});
        client.on("unexpected-response", (request) => {
          request.destroy();
          setTimeout(resolve, 3);
        });
        client.on("open", () => setTimeout(() => client.terminate(), 20));
        client.on("close", () => setTimeout(resolve, 3));
      });
    }
  });
  while (performance.now() < end) {
    most = Math.max(most, edge.origin.sockets);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await lanes;
  assert.ok(edge.origin.count > 5);
  assert.equal(most, 1);
});
