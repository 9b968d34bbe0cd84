// Caps that find their own size: `in_flight = "auto …"`.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { parallel, start } from "./harness/index.mjs";

const ip = "203.0.113.7";

test("an adaptive cap grows from its floor while the origin stays as fast, up to its ceiling", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { route: "/*", in_flight: "auto 4..24" } } });
  await edge.run();
  const end = performance.now() + 24_000;
  const most = [];
  const watch = setInterval(() => {
    most.push(edge.origin.most);
    edge.origin.forget();
  }, 4_000);
  await parallel(40, async () => {
    while (performance.now() < end) {
      const answer = await edge.get("/x?as=slow&ms=200", { ip });
      if (answer.status !== 200) await sleep(50);
    }
  });
  clearInterval(watch);
  t.diagnostic(`at the origin at once, in each four seconds: ${most.join(" ")}`);
  assert.ok(most[0] <= 8, `${most}`);
  assert.ok(Math.max(...most) > 14, `${most}`);
  assert.ok(Math.max(...most) <= 24, `${most}`);
  const said = edge.records.filter(({ event }) => event === "cap");
  assert.ok(said.length >= 2 && said.length <= 4, JSON.stringify(said));
  assert.deepEqual([said[0].place, said[0].problem], ["all/in-flight", "is 4"]);
  assert.match(said.at(-1).problem, /^is \d+, was \d+$/);
  const [{ tables }] = await edge.objects();
  assert.equal(tables.found.length, 1, "the found cap is stored");
});

test("CAP-12: an origin that says 429 when it is full is full, as one that says 503", async (t) => {
  const vars = { LIMIT_MANY: { route: "/429", in_flight: "auto 2..40" }, LIMIT_BUSY: { route: "/503", in_flight: "auto 2..40" } };
  const edge = await start(t, { vars });
  const origin = { "/429": { under: 0 }, "/503": { under: 0 } };
  edge.origin.handler = ({ url }, response) => {
    const at = origin[url];
    if (at.under >= 4) {
      at.shed++;
      return void response.writeHead(Number(url.slice(1))).end();
    }
    at.under++;
    at.served++;
    setTimeout(() => {
      at.under--;
      response.end("served");
    }, 200);
  };
  await edge.run();
  const forget = () => Object.values(origin).forEach((at) => Object.assign(at, { served: 0, shed: 0 }));
  forget();
  const end = performance.now() + 45_000;
  const lanes = parallel(40, async (index) => {
    while (performance.now() < end) {
      const { status } = await edge.get(index % 2 ? "/429" : "/503", { ip });
      if (status !== 200) await sleep(100);
    }
  });
  await sleep(30_000);
  forget();
  await lanes;
  const part = ({ served, shed }) => shed / (served + shed);
  for (const [path, at] of Object.entries(origin)) t.diagnostic(`${path}: ${at.served} served, ${at.shed} shed in 15 s`);
  assert.ok(part(origin["/429"]) < 0.6, "the cap follows");
  assert.ok(origin["/429"].served > 120, "and leaves the origin its work");
});

/** Mean time that the origin below takes for a request, in milliseconds. */
const SERVICE = 80;

/**
 * An origin that serves `servers` requests at once, each for 60 to 100 ms, and queues the others.
 * Requests for `/idle` skip the queue.
 */
class Queue {
  #waiting = [];
  #busy = 0;
  #sum = 0;
  #looks = 0;

  constructor(servers) {
    this.servers = servers;
    this.timer = setInterval(() => this.#look(), 20);
  }

  handler = (request, response) => {
    if (request.url === "/idle") return void setTimeout(() => response.end("served"), SERVICE);
    this.#waiting.push(response);
    this.#serve();
  };

  #serve() {
    while (this.#busy < this.servers && this.#waiting.length > 0) {
      const response = this.#waiting.shift();
      this.#busy++;
      setTimeout(() => {
        this.#busy--;
        response.end("served");
        this.#serve();
      }, SERVICE * (0.75 + 0.5 * Math.random()));
    }
  }

  #look() {
    this.#sum += this.#busy + this.#waiting.length;
    this.#looks++;
  }

  /** The mean number of requests in service and in the queue since the last call. */
  mean() {
    const mean = this.#sum / Math.max(this.#looks, 1);
    this.#sum = this.#looks = 0;
    return mean;
  }
}

/**
 * Measures the delay on the way to the origin until the returned function is called, as a part of
 * `SERVICE`.
 */
function delays(edge) {
  let [sum, count, running] = [0, 0, true];
  const asking = (async () => {
    while (running) {
      const begun = performance.now();
      await edge.get("/idle", { ip });
      sum += performance.now() - begun;
      count++;
    }
  })();
  return async () => {
    running = false;
    await asking;
    return sum / Math.max(count, 1) / SERVICE - 1;
  };
}

test("an adaptive cap is within a fifth of the origin's capacity, also 30 seconds after that has halved", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { route: "/x", in_flight: "auto 4..200" } } });
  const queue = new Queue(24);
  edge.origin.handler = queue.handler;
  await edge.run();
  let running = true;
  const load = parallel(70, async () => {
    while (running) {
      const answer = await edge.get("/x", { ip });
      if (answer.status !== 200) await sleep(100);
    }
  });
  const delay = delays(edge);
  await sleep(35_000);
  queue.mean();
  await sleep(15_000);
  const settled = queue.mean();
  queue.servers = 12;
  await sleep(30_000);
  queue.mean();
  await sleep(10_000);
  const halved = queue.mean();
  running = false;
  await load;
  clearInterval(queue.timer);
  // A busy machine delays every answer, and no limiter can tell that from a queue.
  const beside = await delay();
  t.diagnostic(`at the origin on average: ${settled.toFixed(1)} of 24, and ${halved.toFixed(1)} of 12`);
  t.diagnostic(`${(100 * beside).toFixed(0)} % longer on the way`);
  for (const part of [settled / 24, halved / 12]) assert.ok(Math.abs(part - 1) <= 0.2 + beside, `${part}`);
});
