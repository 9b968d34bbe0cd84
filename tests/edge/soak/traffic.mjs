// Mixed traffic: fast and slow callers, callers that come once, bodies, WebSockets, and clients
// that hang up.
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import WebSocket from "ws";
import { HOST, open, parallel, send } from "../harness/index.mjs";

/**
 * A client that goes on until `over()`, and hangs up now and then. `answered(answer)` takes every
 * whole answer, `failed(error)` every connection that broke.
 */
export async function client({ edge, isolates, random, over, answered, failed }) {
  const pace = random.pick([5, 20, 100, 400]);
  while (!over()) {
    const who = caller(random);
    const url = edge.url(random.below(isolates));
    try {
      await act({ url, who, random, answered });
    } catch (error) {
      failed(error);
    }
    await sleep(random.below(2 * pace));
  }
}

/** Sends one request each of `count` callers to each isolate, as fast as possible. */
export async function crowd({ edge, isolates, count }) {
  for (let isolate = 0; isolate < isolates; isolate++) {
    let next = 0;
    await parallel(16, async () => {
      for (let id = next++; id < count; id = next++) {
        await send(edge.url(isolate), { path: "/crowd", ip: `10.${id >> 16}.${(id >> 8) & 255}.${id & 255}` });
      }
    });
  }
}

function caller(random) {
  // One in ten comes once and never again.
  if (random.below(10) === 0) return { ip: `10.${random.below(256)}.${random.below(256)}.${random.below(256)}` };
  const ip = `203.0.113.${random.below(24)}`;
  return random.below(3) ? { ip, key: `key-${random.below(8)}` } : { ip };
}

async function act({ url, who, random, answered }) {
  const path = random.pick(["/v1/items", "/v1/items", "/v1/items/7", "/shared/feed?as=slow&ms=300", "/loose", "/login"]);
  switch (random.below(12)) {
    case 0:
      return answered(await send(url, { ...who, method: "POST", path, body: "x".repeat(1 + random.below(50_000)) }));
    case 1:
      return hangUp({ url, who, path, random });
    case 2:
      return talk({ url, who });
    default:
      return answered(await send(url, { ...who, path }));
  }
}

/** Leaves before or in the middle of the answer. */
async function hangUp({ url, who, path, random }) {
  if (random.below(2)) {
    const { request } = await open(url, { ...who, path: `${path}?as=big&bytes=3000000` });
    request.on("error", () => {});
    return request.destroy();
  }
  const leaving = open(url, { ...who, path, write: (request) => (request.end(), setTimeout(() => request.destroy(), random.below(10))) });
  await leaving.then(({ response }) => response.resume().on("error", () => {})).catch(() => {});
}

async function talk({ url, who: { ip, key } }) {
  const headers = { host: HOST, "cf-connecting-ip": ip, ...(key && { "x-api-key": key }) };
  const socket = new WebSocket(`ws://${url.host}/v1/talk`, { headers });
  const refused = once(socket, "unexpected-response").then(([, response]) => response.resume());
  const opened = once(socket, "open").then(async () => {
    socket.send("hello");
    await once(socket, "message");
    socket.close();
  });
  socket.on("error", () => {});
  await Promise.race([opened, refused, once(socket, "close"), sleep(5_000)]);
  socket.terminate();
}
