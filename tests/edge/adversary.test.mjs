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

