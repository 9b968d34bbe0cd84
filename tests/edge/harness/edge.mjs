// A running edge: the built Worker in the real runtime, its Durable Objects and its D1 database on
// disk, a recording origin behind it, and a clock that stands still until a test moves it.
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { send } from "./client.mjs";
import { collect } from "./heap.mjs";
import { OrderedFaults } from "./ordered-faults.mjs";
import { Origin } from "./origin.mjs";
import { migrations, startRuntime } from "./runtime.mjs";
import { untilAdmitted } from "./wait.mjs";

/** The root of the project whose build is tested. */
export const ROOT = process.env.PENSTOCK_ROOT ?? resolve(import.meta.dirname, "../../..");

/** A file system in memory, where there is one: the runtime then waits for no disk. */
const MEMORY = "/dev/shm";

/**
 * Where the clock stands unless a test says otherwise: noon in UTC. It is years ahead of the
 * machine's clock, so the runtime runs no alarm by itself.
 */
export const NOON = Date.parse("2031-01-15T12:00:00Z");

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/**
 * Starts an edge, and stops it after the test `t`. The tests of one file share an edge where `t` is
 * `{ after }` of node:test: it is then stopped after the last of them.
 *
 * @param {object} options
 * - `vars` for the Worker; null leaves one out. `ORIGIN`, `KEY` and a `DEADLINE` that a busy
 *   machine keeps are given.
 * - `edited`: vars that all isolates but the first have in place of these, as in a deploy.
 * - `at`: where the clock stands.
 * - `isolates`: how many Workers share the objects.
 * - `origin`: makes `ORIGIN` of the recording origin's URL.
 * - `outbound`: whether every request of the Worker goes to the recording origin.
 * - `port`: where the first isolate listens.
 * - `inspect`: whether `collect` works.
 * - `stored`: an archive of state to begin with, `{ file, migrations }`: its path, and how many
 *   files of migrations its database has had.
 */
export async function start(
  t,
  { vars = {}, edited, at = NOON, isolates = 1, origin: asOrigin = (url) => url, outbound = false, port = 0, inspect = false, stored } = {},
) {
  const origin = await Origin.listen();
  const state = await mkdtemp(join(existsSync(MEMORY) ? MEMORY : tmpdir(), "penstock-edge-"));
  if (stored) execFileSync("tar", ["-xzf", stored.file, "-C", state]);
  const all = { ORIGIN: asOrigin(origin.url), KEY: "header:x-api-key, bearer", DEADLINE: "5s", ...vars };
  const edge = new Edge({ vars: all, edited, at, isolates, outbound, port, inspect, stored, origin, state });
  t.after(async () => {
    try {
      await edge.stop();
    } finally {
      // An origin that is left running would keep the test process from ending.
      await origin.close();
      await rm(state, { recursive: true, force: true });
    }
  });
  await edge.launch();
  return edge;
}

class Edge {
  #options;
  #token = randomUUID();
  #urls = [];
  #known = {};
  #runtime;
  #faults = new OrderedFaults();
  #callers = 0;

  constructor(options) {
    this.#options = options;
    this.origin = options.origin;
    /** The folder where the runtime keeps what it stores. */
    this.state = options.state;
    this.at = options.at;
    /** Every line that the Worker wrote: `{ level, message }`. */
    this.logs = [];
  }

  async launch() {
    const options = { ...this.#options, serve: this.origin.serve };
    const given = { token: this.#token, at: this.at };
    const { runtime, urls } = await startRuntime(ROOT, options, given, (line) => this.logs.push(line));
    this.#runtime = runtime;
    this.#urls = urls;
    const applied = this.#options.stored?.migrations;
    if (!this.migrated) for (const statement of await migrations(ROOT, applied)) await this.d1(statement);
    this.migrated = true;
  }

  /** Ends the runtime and with it every fault; fails where a fault was never met. */
  async stop() {
    try {
      if (this.#runtime && this.#faults.endings) await this.fail(this.#faults.endings);
    } finally {
      await this.#runtime?.dispose();
      this.#runtime = undefined;
    }
  }

  /** Ends the runtime, as a deploy or a crash of the machine would; starts it on the same state. */
  async restart() {
    await this.stop();
    await this.launch();
  }

  /** Restarts with other values for some vars. */
  redeploy(vars) {
    this.#options.vars = { ...this.#options.vars, ...vars };
    return this.restart();
  }

  /** One request to the Worker; `isolate` says which one. */
  send(options = {}) {
    return send(this.url(options.isolate), options);
  }

  get(path, options = {}) {
    return this.send({ path, ...options });
  }

  post(path, options = {}) {
    return this.send({ method: "POST", path, ...options });
  }

  /**
   * Has the runtime make a request for `url` itself, as if it had come under that scheme and host.
   */
  dispatch(url, options = {}) {
    return this.#runtime.dispatchFetch(url, { redirect: "manual", ...options });
  }

  /** Asks for `path` until it is admitted; returns how many milliseconds that took. */
  untilAdmitted(path, options = {}) {
    return untilAdmitted(() => this.get(path, options));
  }

  /** Where an isolate listens, with nothing in front of it. */
  url(isolate = 0) {
    return this.#urls[isolate];
  }

  async #order(order, isolate = 0) {
    const headers = [["edge-control", this.#token]];
    const answer = await send(this.url(isolate), { method: "POST", path: "/", headers, body: JSON.stringify(order) });
    if (answer.status !== 200) throw new Error(`${order.op}: ${answer.status} ${answer.text}`);
    return answer.json;
  }

  #orderAll(order) {
    return Promise.all(this.#urls.map((_, isolate) => this.#order(order, isolate)));
  }

  /** Sets the clock of every isolate to `at` (Unix milliseconds), where it stands still. */
  async freeze(at) {
    this.at = at;
    await this.#orderAll({ op: "freeze", at });
  }

  /** Moves the standing clock on, or back where `by` is below zero. */
  advance(by) {
    return this.freeze(this.at + by);
  }

  /** Lets every clock run on at the real speed from where it stands. */
  run() {
    return this.#orderAll({ op: "run", at: this.at });
  }

  /**
   * A caller from an address of its own, for tests that share an edge. The clock moves on by `gap`,
   * and the records of origin and logs begin empty.
   */
  async newCaller(gap = HOUR) {
    this.#callers += 1;
    await this.advance(gap);
    this.origin.forget();
    this.logs.length = 0;
    return { ip: `203.0.113.${this.#callers}` };
  }

  /**
   * Makes the first isolate's next readings of its clock throw through the Worker's own code:
   * `kind` is "trap" or "error".
   */
  trip(kind, options = {}) {
    return this.#order({ op: "trip", kind, ...options });
  }

  /**
   * Orders faults: `{ actor }` for calls to Durable Objects, `{ d1 }` for statements to D1,
   * `{ disk: true }` for actors whose disk is full; null ends one.
   *
   * A fault that ends, or is left when the edge stops, must have been met by a call. One that need
   * not be says why in `unmet`.
   *
   * @returns how often each fault that ended here was met, by kind
   */
  async fail(faults) {
    const numbered = this.#faults.number(faults);
    return this.#faults.replace(faults, numbered, await this.#orderAll({ op: "faults", faults: numbered }));
  }

  /** Calls to actors by name and statements to D1, as all isolates made them. */
  async asked() {
    const all = await this.#orderAll({ op: "asked" });
    const actors = {};
    for (const one of all) for (const [name, calls] of Object.entries(one.actors)) actors[name] = (actors[name] ?? 0) + calls;
    const calls = Object.values(actors).reduce((sum, some) => sum + some, 0);
    return { actors, calls, d1: all.reduce((sum, one) => sum + one.d1, 0) };
  }

  /** Every object that was ever asked for: its name, what happened in it, and its tables. */
  async objects() {
    Object.assign(this.#known, ...(await this.#orderAll({ op: "objects" })));
    const looks = Object.entries(this.#known).map(async ([id, name]) => ({ id, name, ...(await this.#orderObject(id, { op: "look" })) }));
    return Promise.all(looks);
  }

  #orderObject(id, order) {
    return this.#order({ op: "object", id, order });
  }

  /** The objects whose name contains `match`; fails where there is none. */
  async #someObjects(match = "") {
    const objects = (await this.objects()).filter(({ name }) => name.includes(match));
    if (objects.length === 0) throw new Error(`there is no object ${match}`);
    return objects;
  }

  /** Runs the alarm of every object that has one set, as if it were due; returns how many. */
  async alarms() {
    const objects = (await this.objects()).filter(({ alarmAt }) => alarmAt !== null);
    for (const { id } of objects) await this.#orderObject(id, { op: "alarm" });
    return objects.length;
  }

  /** Evicts every object, as the runtime does with idle ones: memory is lost, storage stays. */
  async evict() {
    for (const { id } of await this.#someObjects()) {
      await this.#runtime.unsafeEvictDurableObject("isolate-0", "BucketActor", { id });
    }
  }

  /** Crashes every object in the middle of its work. */
  async crash() {
    for (const { id, name } of await this.#someObjects()) {
      const survived = await this.#orderObject(id, { op: "crash" }).then(() => true, () => false);
      if (survived) throw new Error(`${name} survived its crash`);
    }
  }

  /**
   * Collects the Workers' garbage, or that of `all` isolates of the runtime; returns how many bytes
   * the Workers keep. Needs `inspect`.
   */
  async collect({ all = false } = {}) {
    return collect(await this.#runtime.getInspectorURL(), all);
  }

  /** Runs `sql` on the disks of the objects whose names contain `match`. */
  async damage(match, sql) {
    for (const { id } of await this.#someObjects(match)) await this.#orderObject(id, { op: "sql", sql });
  }

  /**
   * Sends a question as an isolate of another version may have written it.
   *
   * @param {string} name the object's name
   * @returns the answer, parsed
   */
  async ask(name, question) {
    return JSON.parse(await this.#order({ op: "ask", name, question: JSON.stringify(question) }));
  }

  /** Runs the cron handler. */
  scheduled(cron = "0 3 * * *") {
    return this.#order({ op: "scheduled", cron, at: this.at });
  }

  /** The rows that a statement on D1 returns. */
  async d1(sql, ...values) {
    const database = await this.#runtime.getD1Database("DB", "isolate-0");
    return (await database.prepare(sql).bind(...values).all()).results;
  }

  /** The Worker's log lines that are JSON, parsed. */
  get records() {
    return this.logs.flatMap(({ message }) => (message.startsWith("{") ? [JSON.parse(message)] : []));
  }
}
