// Drives a variant on the held clock: half an hour of traffic takes as long as the work in it, and
// says the same on a busy machine.
//
// Each step moves the clock to the next moment at which something happens: a request comes, a timer
// or an alarm is due, a call has gone its way. A step is over when nothing more can happen at that
// moment.
import { once } from "node:events";
import WebSocket from "ws";
import { START } from "./clock-start.mjs";

/** How long after the last request the clock goes on, for what is still to be given back. */
const AFTER = 5_000;

/**
 * Whether something of an isolate may be under way, as far as it knows itself. The first has the
 * objects.
 */
const unfinished = ({ underWay }, index) => index === 0 || underWay.sent !== underWay.received || underWay.io > 0;

/** How long an order may take, in milliseconds of the machine's clock. */
const PATIENCE = 120_000;

/** One isolate, over a WebSocket: one order at a time. */
class Isolate {
  #socket;
  #reply;
  /** When it has something to do next, or null. */
  next = null;
  underWay = { sent: 0, arrived: 0, returned: 0, received: 0, working: 0, io: 0, own: 0 };

  static async open(url) {
    const isolate = new Isolate();
    const socket = new WebSocket(url, { perMessageDeflate: false });
    isolate.#socket = socket;
    await once(socket, "open");
    socket.on("message", (data) => isolate.#reply.resolve(JSON.parse(data)));
    socket.on("close", () => isolate.#reply?.reject(new Error("an isolate has hung up")));
    return isolate;
  }

  async order(order) {
    this.#reply = Promise.withResolvers();
    const late = () => this.#reply.reject(new Error(`an isolate is late with ${JSON.stringify(this.underWay)}`));
    const timer = setTimeout(late, PATIENCE);
    this.#socket.send(JSON.stringify(order));
    const reply = await this.#reply.promise;
    clearTimeout(timer);
    this.next = reply.next;
    this.underWay = reply.underWay;
    return reply;
  }

  close() {
    this.#socket.removeAllListeners("close");
    this.#socket.terminate();
  }
}

class Drive {
  #isolates;
  #onAnswer;

  constructor(isolates, onAnswer) {
    this.#isolates = isolates;
    this.#onAnswer = onAnswer;
  }

  async #order(isolate, order) {
    const { answers } = await isolate.order(order);
    for (const [n, status, at] of answers) this.#onAnswer(n, status, at - START);
  }

  #quiet() {
    const sum = (name) => this.#isolates.reduce((sum, { underWay }) => sum + underWay[name], 0);
    return sum("sent") === sum("arrived") && sum("returned") === sum("received") && sum("working") === 0 && sum("io") === 0;
  }

  /** One moment: `requests` has a list for each isolate. */
  async step(at, requests) {
    const [first, ...others] = this.#isolates;
    // An isolate that waits for an object may hear from it as soon as the object's clock moves on.
    const waiting = others.filter(({ underWay }) => underWay.sent !== underWay.received);
    await Promise.all(waiting.map((isolate) => this.#order(isolate, { clock: START + at })));
    // The first has the objects: its clock is right before anybody calls one.
    await this.#order(first, { at: START + at, requests: requests[0] });
    const involved = others.filter(({ next, underWay }, index) => {
      const due = next !== null && next <= START + at;
      return due || requests[index + 1].length > 0 || underWay.sent !== underWay.received;
    });
    await Promise.all(involved.map((isolate) => this.#order(isolate, { at: START + at, requests: requests[this.#isolates.indexOf(isolate)] })));
    while (!this.#quiet()) {
      for (const isolate of this.#isolates.filter(unfinished)) await this.#order(isolate, {});
    }
  }

  /** When something is to be done next without a request, or infinity. */
  next() {
    return Math.min(...this.#isolates.map(({ next }) => (next === null ? Infinity : next - START)));
  }

  async counts() {
    const sum = {};
    for (const isolate of this.#isolates) {
      const { counts } = await isolate.order({ count: true });
      for (const [name, n] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + n;
    }
    return sum;
  }
}

/**
 * Sends `events` (in their order: `{ at, isolate, request: [method, url, headers] }`, `at` in
 * milliseconds) to the variant `id` of a runtime on the held clock. What happens within `tick`
 * milliseconds happens at once, at the end of them. Returns the `counts`, also of the work that is
 * left after the last answer, and each event's `answers`: status and latency by the held clock.
 */
export async function drive(runtime, id, events, { isolates = 1, tick = 1 }) {
  const urls = await Promise.all(Array.from({ length: isolates }, (_, index) => runtime.url(id, index)));
  const open = await Promise.all(urls.map((url) => Isolate.open(url)));
  const answers = events.map(() => null);
  const drive = new Drive(open, (n, status, at) => (answers[n] = { status, at, ms: at - Math.ceil(events[n].at / tick) * tick }));
  const end = (events.at(-1)?.at ?? 0) + AFTER;
  let n = 0;
  try {
    for (;;) {
      const at = Math.ceil(Math.min(events[n]?.at ?? Infinity, drive.next()) / tick) * tick;
      if (at > end) break;
      const requests = open.map(() => []);
      for (; n < events.length && events[n].at <= at; n++) requests[events[n].isolate].push([n, ...events[n].request]);
      await drive.step(at, requests);
    }
    return { answers, counts: await drive.counts() };
  } finally {
    open.forEach((isolate) => isolate.close());
  }
}
