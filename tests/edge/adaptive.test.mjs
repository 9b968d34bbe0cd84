// An in-flight cap that finds itself.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { parallel, start } from "./harness/index.mjs";

const ip = "203.0.113.7";

test("a cap grows from its floor while the origin is not slower for it, and stays below its ceiling", async (t) => {
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
  assert.equal(tables.found.length, 1, "and what was found is kept");
});

/** An origin that serves so many at once, each for 60 to 100 ms, and lets the others queue. */
class Queue {
  #waiting = [];
  #busy = 0;
  #sum = 0;
  #looks = 0;
  #late = 0;
  #served = 0;

  constructor(servers) {
    this.servers = servers;
    this.timer = setInterval(() => this.#look(), 20);
  }

  handler = (_, response) => {
    this.#waiting.push(response);
    this.#serve();
  };

  #serve() {
    while (this.#busy < this.servers && this.#waiting.length > 0) {
      const response = this.#waiting.shift();
      this.#busy++;
      const ms = 60 + 40 * Math.random();
      const due = performance.now() + ms;
      setTimeout(() => {
        this.#late += (performance.now() - due) / 80;
        this.#served++;
        this.#busy--;
        response.end("served");
        this.#serve();
      }, ms);
    }
  }

  #look() {
    this.#sum += this.#busy + this.#waiting.length;
    this.#looks++;
  }

  /** How many were there on average since this was last asked, and how late they were served, for the machine's sake, as a part of the time that it takes. */
  mean() {
    const [mean, late] = [this.#sum / Math.max(this.#looks, 1), this.#late / Math.max(this.#served, 1)];
    this.#sum = this.#looks = this.#late = this.#served = 0;
    return { mean, late };
  }
}

test("a cap is within a fifth of what the origin can serve, and so 30 seconds after that has halved", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { route: "/*", in_flight: "auto 4..200" } } });
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
  // A machine that has other things to do makes answers late as a crowd would, and no limiter can tell one from the other.
  for (const [{ mean, late }, servers] of [[settled, 24], [halved, 12]]) {
    t.diagnostic(`at the origin on average: ${mean.toFixed(1)} of ${servers}; served ${(100 * late).toFixed(1)} % late`);
    assert.ok(Math.abs(mean / servers - 1) <= 0.2 + late, `${mean} of ${servers}, and ${late} late`);
  }
});
