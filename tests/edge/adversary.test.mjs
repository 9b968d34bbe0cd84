// Promises that are not kept yet, each in the smallest form that shows it.
import assert from "node:assert/strict";
import net from "node:net";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import WebSocket from "ws";
import { count, HOST, parallel, start, until } from "./harness/index.mjs";

const ip = "203.0.113.7";
const ALL = { route: "/*" };
const todo = { todo: "not kept yet" };

/** A client that can leave in the middle. */
function raw(edge, head, body = "") {
  const url = edge.url();
  const socket = net.connect(Number(url.port), url.hostname, () => socket.write(`${head}\r\nHost: ${HOST}\r\nCF-Connecting-IP: ${ip}\r\n\r\n${body}`));
  socket.on("error", () => {});
  socket.on("data", () => {});
  return socket;
}

test("a cap holds while its actor is slow, whatever DEADLINE is", todo, async (t) => {
  const edge = await start(t, { vars: { DEADLINE: "5s", LIMIT_ALL: { ...ALL, in_flight: "4" } } });
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

test("an answer with a status past 599 holds its slot until its last byte", todo, async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { ...ALL, in_flight: "1" } } });
  await edge.run();
  await parallel(4, async (index) => {
    await sleep(index * 200);
    await edge.get("/x?as=slow&ms=0&status=999&parts=20&bytes=100&every=100", { ip });
  });
  assert.equal(edge.origin.most, 1);
});

test("a slot whose client has left is free within 3 seconds, though the origin's body stands still", todo, async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { ...ALL, in_flight: "1" } } });
  await edge.run();
  const client = raw(edge, "GET /x?as=events HTTP/1.1");
  await until(() => edge.origin.under === 1);
  await sleep(300);
  client.resetAndDestroy();
  await sleep(4_000);
  assert.equal((await edge.get("/x", { ip })).status, 200);
});

test("low requests leave the last fifth to others, however many isolates there are", todo, async (t) => {
  const vars = {
    LIMIT_BASE: { in_flight: "10" },
    LIMIT_LOW: { route: "/low", priority: "low" },
    LIMIT_HIGH: { route: "/high", priority: "high" },
  };
  const edge = await start(t, { vars, isolates: 5 });
  await edge.run();
  // Two high ones in each isolate, whose slots low ones find idle there.
  const first = [];
  for (let index = 0; index < 10; index++) {
    first.push(edge.get("/high?as=slow&ms=1500", { ip, isolate: index % 5 }));
    await sleep(80);
  }
  const statuses = (await Promise.all(first)).map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 200).length, 10, `${statuses}`);
  const end = performance.now() + 5_000;
  const low = parallel(20, async (index) => {
    while (performance.now() < end) {
      const answer = await edge.get("/low?as=slow&ms=100", { ip, isolate: index % 5 });
      if (answer.status !== 200) await sleep(10);
    }
  });
  // What was lent to high ones has gone back by now.
  await sleep(2_500);
  edge.origin.forget();
  await sleep(1_000);
  const most = edge.origin.most;
  const high = await parallel(5, (index) => edge.get("/high", { ip, isolate: index % 5 }));
  await low;
  t.diagnostic(`${most} low ones at once, and ${count(high, 200)} of ${high.length} high ones passed`);
  assert.ok(most <= 8, `${most} at once`);
});

test("no more sockets are open at the origin than may be, while clients come and go", todo, async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { ...ALL, sockets: "1" } } });
  await edge.run();
  const end = performance.now() + 3_000;
  let most = 0;
  const lanes = parallel(4, async () => {
    while (performance.now() < end) {
      await new Promise((resolve) => {
        const client = new WebSocket(edge.url().href.replace("http", "ws"), { headers: { Host: HOST, "CF-Connecting-IP": ip } });
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
  assert.ok(edge.origin.count > 10);
  assert.equal(most, 1);
});
