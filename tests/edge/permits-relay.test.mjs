// Relays of WebSockets that one side does not use: they end, and give back their permits and memory.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import http from "node:http";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocketServer } from "ws";
import { resident } from "./harness/process.mjs";
import { openSocket, parallel, start, until, untilAdmitted } from "./harness/index.mjs";

const ip = "203.0.113.7";
const MIB = 2 ** 20;

/** An origin of WebSockets that a test holds itself: `sockets` are those that it has taken. */
async function socketOrigin(t) {
  const sockets = [];
  const ends = [];
  const taker = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  const server = http.createServer((_, response) => response.end("no socket"));
  server.on("upgrade", (request, socket, head) =>
    taker.handleUpgrade(request, socket, head, (taken) => {
      sockets.push(taken);
      taken.on("error", () => {});
      taken.on("close", (code) => ends.push(code));
    }),
  );
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    sockets.forEach((taken) => taken.terminate());
    server.closeAllConnections();
    server.close();
  });
  return { sockets, ends, url: `http://127.0.0.1:${server.address().port}` };
}

/** An edge before that origin, and a function that opens a relay: its two ends. */
async function relays(t, binding) {
  const origin = await socketOrigin(t);
  const edge = await start(t, { origin: () => origin.url, vars: { LIMIT_SOCKET: { route: "/*", ...binding } } });
  await edge.run();
  const open = async () => {
    const before = origin.sockets.length;
    let client;
    await until(async () => ({ client } = await openSocket(edge.url(), { ip })).status === 101);
    t.after(() => client.terminate());
    await until(() => origin.sockets.length > before);
    return { client, server: origin.sockets.at(-1), ended: once(client, "close") };
  };
  const free = () =>
    untilAdmitted(async () => {
      const answer = await openSocket(edge.url(), { ip });
      answer.client?.terminate();
      return answer;
    });
  return { edge, origin, open, free };
}

/** Sends up to `bytes` as fast as `socket` takes them, for as long as it is open. */
async function push(socket, bytes, part = randomBytes(100_000)) {
  let sent = 0;
  while (sent < bytes && socket.readyState === socket.OPEN) {
    if (socket.bufferedAmount < MIB) {
      socket.send(part, () => {});
      sent += part.length;
    } else await sleep(1);
    if (sent % MIB < part.length) await sleep(0);
  }
  return sent;
}

test("SOC-10: a relay in which nothing passes is ended with 1001, and one in which something does goes on", async (t) => {
  const { origin, open, free } = await relays(t, { sockets: "3", socket_idle: "30s" });
  const [idle, up, down] = [await open(), await open(), await open()];
  let received = 0;
  up.server.on("message", () => received++);
  down.client.on("message", () => received++);
  const talk = setInterval(() => {
    up.client.send("still here");
    down.server.send("still here");
  }, 15_000);
  // The runtime answers an origin's pings itself, so they say nothing about the client.
  idle.client.pause();
  let pongs = 0;
  idle.server.on("pong", () => pongs++);
  const pings = setInterval(() => idle.server.ping(), 1_000);
  t.after(() => [talk, pings].forEach(clearInterval));
  const begun = performance.now();
  await until(() => origin.ends.length === 1, { ms: 45_000 });
  const took = performance.now() - begun;
  t.diagnostic(`ended after ${(took / 1_000).toFixed(1)} s and ${pongs} pongs`);
  assert.ok(pongs > 20, "the origin cannot tell");
  assert.ok(took > 28_000 && took < 36_000, `${took} ms`);
  assert.deepEqual(origin.ends, [1001]);
  assert.ok((await free()) < 2_000);
  idle.client.resume();
  assert.equal((await idle.ended)[0], 1001);
  await until(() => received === 6, { ms: 20_000 });
  assert.deepEqual([up.client.readyState, down.client.readyState], [1, 1]);
});

for (const direction of ["down", "up"]) {
  test(`SOC-11 SOC-13: a reader that does not read costs little memory, and ends the relay with 1013: ${direction}`, async (t) => {
    const { edge, origin, open, free } = await relays(t, { sockets: "1" });
    await edge.get("/", { ip });
    const before = resident();
    const { client, server } = await open();
    const [pusher, sleeper] = direction === "down" ? [server, client] : [client, server];
    sleeper.pause();
    let code;
    pusher.on("close", (its) => (code = its));
    let most = before;
    const watch = setInterval(() => (most = Math.max(most, resident())), 50);
    const sent = await push(pusher, 150 * MIB);
    await sleep(1_000);
    assert.equal(code, 1013, `${sent} bytes sent, ${most - before} bytes more`);
    clearInterval(watch);
    const took = await free();
    t.diagnostic(`${(sent / MIB).toFixed(0)} MiB sent, ${((most - before) / MIB).toFixed(0)} MiB of memory more, free after ${Math.round(took)} ms`);
    assert.ok(sent < 60 * MIB, `${sent} bytes`);
    assert.ok(most - before < 30 * MIB, `${most - before} bytes`);
    assert.ok(took < 10_000, `${took} ms`);
    // The side that does not read is broken off, so it keeps nothing of the runtime's.
    sleeper.resume();
    await until(() => sleeper.readyState === sleeper.CLOSED);
    await until(() => origin.ends.length > 0);
    assert.ok(!edge.logs.some(({ level }) => level === "error"), JSON.stringify(edge.logs));
  });
}

test("SOC-11: readers that do not read, one after the other, cost no more than one", async (t) => {
  const { open } = await relays(t, { sockets: "40" });
  const grown = [];
  const first = resident();
  for (let round = 0; round < 24; round++) {
    const { client, server } = await open();
    const sleeper = round % 2 ? client : server;
    sleeper.pause();
    await push(round % 2 ? server : client, 40 * MIB);
    if (round % 4 === 3) await sleep(5_500);
    grown.push(Math.round((resident() - first) / MIB));
  }
  t.diagnostic(`${grown.join(" ")} MiB more`);
  assert.ok(grown.at(-1) < 300, `${grown}`);
});

test("SOC-11: a large message to a reader that reads passes, and so do many", async (t) => {
  const { open } = await relays(t, { sockets: "1" });
  const { client, server } = await open();
  const large = randomBytes(20 * MIB);
  server.send(large);
  const [data] = await once(client, "message");
  assert.ok(large.equals(data));
  let received = 0;
  client.on("message", (message) => (received += message.length));
  await parallel(100, async (index) => {
    await sleep(index * 20);
    server.send(large.subarray(0, MIB));
  });
  await until(() => received === 100 * MIB);
  assert.equal(client.readyState, client.OPEN);
});

test("SOC-12: a message of 32 MiB passes, and a longer one ends the socket", async (t) => {
  const { origin, open, free } = await relays(t, { sockets: "1" });
  const { client, server } = await open();
  client.send(Buffer.alloc(32 * MIB));
  const [data] = await once(server, "message");
  assert.equal(data.length, 32 * MIB);
  const ended = once(client, "close");
  client.send(Buffer.alloc(32 * MIB + 1), () => {});
  const [code] = await ended;
  await until(() => origin.ends.length === 1);
  t.diagnostic(`the client saw ${code}, the origin ${origin.ends}`);
  await free();
});
