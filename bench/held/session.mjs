// A Worker on the held clock. The driver opens one WebSocket to each isolate, and everything
// happens in its context: an order says what time it is and which requests come now, and is
// answered when nothing more can happen until the clock moves on.
import { counts, settle, watchWorker } from "../workers/count.mjs";
import { change, heldEnv, underWay } from "./bindings.mjs";
import { clock } from "./clock.mjs";
import { nextAlarm, runAlarms } from "./objects.mjs";

/** How many turns a continuation of settled promises may take until it calls something. */
const TURNS = 60;

const least = (...times) => times.reduce((least, time) => (time !== null && (least === null || time < least) ? time : least), null);

export function heldWorker(built, held) {
  const worker = watchWorker(built);
  return {
    fetch(request, env, ctx) {
      if (request.headers.get("upgrade") !== "websocket") return worker.fetch(request, env, ctx);
      const [client, server] = Object.values(new WebSocketPair());
      server.accept();
      new Session(server, worker, env, held);
      return new Response(null, { status: 101, webSocket: client });
    },
  };
}

class Session {
  #answers = [];

  constructor(socket, worker, env, held) {
    const inside = heldEnv(env, held);
    // Where no statement takes time, an object that was called goes on until it answers.
    const rests = held.d1.length > 0 && held.distance.d1 > 0;
    const ctx = { waitUntil() {}, passThroughOnException() {} };
    socket.addEventListener("message", async ({ data }) => {
      const { at, clock: ahead, requests = [], count } = JSON.parse(data);
      if (ahead) clock.set(ahead);
      if (at) {
        clock.advance(at);
        runAlarms(env);
      }
      for (const one of requests) this.#serve(one, worker, inside, ctx);
      await quiet(rests);
      if (count) settle();
      const answers = this.#answers.splice(0);
      socket.send(JSON.stringify({ answers, next: least(clock.next(), nextAlarm()), underWay, ...(count && { counts }) }));
    });
  }

  async #serve([n, method, url, headers], worker, env, ctx) {
    let status;
    try {
      ({ status } = await worker.fetch(new Request(url, { method, headers }), env, ctx));
    } catch (error) {
      status = String(error);
    }
    this.#answers.push([n, status, clock.now()]);
  }
}

/**
 * Resolves when the Worker waits for nothing that ends by itself. Where objects may be at rest,
 * only the driver knows whether a call does: the object may be in another isolate.
 */
async function quiet(rests) {
  for (;;) {
    for (let turn = 0; turn < TURNS; turn++) await null;
    if (underWay.own === 0 && (rests || underWay.sent === underWay.received)) return;
    await change();
  }
}
