// Caps on live WebSockets: messages are relayed unchanged, and a permit is held until the close.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import net from "node:net";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { openSocket, parallel, rawRequest, start, until, untilAdmitted } from "./harness/index.mjs";

const ip = "203.0.113.7";

/** Opens a WebSocket, or is refused. */
const socket = (edge, options = {}) => openSocket(edge.url(), { ip, ...options });

/** Tries until a WebSocket is admitted, and closes it; returns how many milliseconds that took. */
const free = (edge) =>
  untilAdmitted(async () => {
    const answer = await socket(edge);
    answer.client?.terminate();
    return answer;
  });

test("two WebSockets live, and a third is refused for as long as they do", async (t) => {
  const edge = await start(t, { vars: { LIMIT_SOCKET: { route: "/socket", sockets: "2", in_flight: "1" } } });
  await edge.run();
  const [first, second] = [await socket(edge, { protocols: ["chat", "superchat"] }), await socket(edge)];
  assert.deepEqual([first.status, second.status], [101, 101], "the permit of the request is free after the 101");
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

test("a WebSocket frees its permit in whichever way it ends", async (t) => {
  const edge = await start(t, { vars: { LIMIT_SOCKET: { route: "/socket", sockets: "1" } } });
  await edge.run();
  for (const { how, end, closes } of [
    { how: "the origin closes", end: (client) => client.send("close 4001 bye"), closes: [4001, "bye"] },
    { how: "the client closes", end: (client) => client.close() },
    { how: "the client's connection ends", end: (client) => client.terminate() },
    { how: "the client's connection is reset", end: (client) => client._socket.resetAndDestroy() },
    { how: "the origin's connection ends", end: (client) => client.send("drop"), closes: [1001, ""] },
  ]) {
    let opened;
    await until(async () => (opened = await socket(edge)).status === 101);
    const closed = once(opened.client, "close");
    end(opened.client);
    const [code, reason] = await closed;
    if (closes) assert.deepEqual([code, String(reason)], closes, how);
    const took = await free(edge);
    assert.ok(took < 4_500, `${how}: ${took} ms`);
    await until(() => edge.origin.sockets === 0);
  }
});

test("an upgrade that the origin refuses holds no permit", async (t) => {
  const edge = await start(t, { vars: { LIMIT_SOCKET: { route: "/socket", sockets: "1" } } });
  await edge.run();
  for (let round = 0; round < 3; round++) {
    assert.equal((await socket(edge, { path: "/socket?as=refused" })).status, 403);
  }
});

test("a client's close reaches the origin with any code, and the cap holds", async (t) => {
  const edge = await start(t, { vars: { LIMIT_BASE: { sockets: "2" } } });
  await edge.run();
  const upgrade = rawRequest({
    headers: [
      ["CF-Connecting-IP", ip],
      ["Upgrade", "websocket"],
      ["Connection", "Upgrade"],
      ["Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="],
      ["Sec-WebSocket-Version", "13"],
    ],
  });
  let most = 0;
  for (const code of [0, 999, 1004, 1005, 1006, 1015, 2999, 5000, 65535, 1000]) {
    const socket = net.connect(Number(edge.url().port), edge.url().hostname, () => socket.write(upgrade));
    t.after(() => socket.destroy());
    const [head] = await once(socket, "data");
    assert.match(String(head), /^HTTP\/1\.1 101 /, `before ${code}`);
    await until(() => edge.origin.sockets > 0);
    most = Math.max(most, edge.origin.sockets);
    socket.write(Buffer.from([0x88, 0x82, 0, 0, 0, 0, code >> 8, code & 0xff]));
    await until(() => edge.origin.sockets === 0);
    // The permit is free a moment after the origin has heard of the close.
    await sleep(300);
  }
  assert.equal(most, 1);
});

test("a cap on WebSockets holds at the origin while clients come and go", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { route: "/*", sockets: "1" } } });
  await edge.run();
  const end = performance.now() + 3_000;
  let most = 0;
  const lanes = parallel(4, async () => {
    while (performance.now() < end) {
      const { client } = await socket(edge, { path: "/" });
      if (client) {
        await sleep(20);
        client.terminate();
        await once(client, "close");
      }
      await sleep(3);
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
