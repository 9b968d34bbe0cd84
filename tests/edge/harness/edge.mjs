// A running edge: the built Worker in the real runtime, its Durable Objects and its D1 database on disk, a recording origin
// behind it, and a clock that stands still until a test moves it.
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from "miniflare";
import { send } from "./client.mjs";
import { compatibility } from "./compatibility.mjs";
import { collect } from "./heap.mjs";
import { Origin } from "./origin.mjs";

/** The root of the project whose build is tested. */
export const ROOT = process.env.PENSTOCK_ROOT ?? resolve(import.meta.dirname, "../../..");

/** A file system in memory, where there is one: the runtime then waits for no disk. */
const MEMORY = "/dev/shm";

/** Where the clock stands unless a test says otherwise: noon in UTC, well ahead of the machine's own, so that no alarm is due. */
export const NOON = Date.parse("2031-01-15T12:00:00Z");

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/**
 * Starts an edge and stops it after the test `t` (or a suite's `after`, where `t` is `{ after }`).
 *
 * @param {object} options `vars` for the Worker (`null` leaves one out); `ORIGIN` and `KEY` are given, and a `DEADLINE` that a
 *   busy machine keeps, `at` where the clock stands, `isolates` how many Workers
 *   share the objects, `origin` what `ORIGIN` is made of the recording origin's URL, `outbound` whether all that goes out goes to
 *   the recording origin, `port` where the first isolate listens, `inspect` whether its memory can be looked at (`collect`).
 */
export async function start(t, { vars = {}, at = NOON, isolates = 1, origin: asOrigin = (url) => url, outbound = false, port = 0, inspect = false } = {}) {
  const origin = await Origin.listen();
  const state = await mkdtemp(join(existsSync(MEMORY) ? MEMORY : tmpdir(), "penstock-edge-"));
  const all = { ORIGIN: asOrigin(origin.url), KEY: "header:x-api-key, bearer", DEADLINE: "5s", ...vars };
  const edge = new Edge({ vars: all, at, isolates, outbound, port, inspect, origin, state, written: await compatibility(ROOT) });
  t.after(async () => {
    try {
      await edge.stop();
    } finally {
      // A runtime that never started does not stop well either, and an origin that is left would keep the tests from ending.
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
    const modules = await loadModules({ token: this.#token, at: this.at });
    const vars = Object.fromEntries(Object.entries(this.#options.vars).filter(([, value]) => value !== null));
    const workers = Array.from({ length: this.#options.isolates }, (_, index) => this.#worker(index, modules, vars));
    this.#runtime = new Miniflare(
      convertV4MiniflareOptions({
        workers,
        log: new Log(LogLevel.NONE),
        cf: false,
        telemetry: { enabled: false },
        ...(this.#options.inspect && { inspectorPort: 0 }),
        resourcePersistencePath: this.state,
        handleStructuredLogs: (line) => this.logs.push(line),
      }),
    );
    await this.#runtime.ready;
    this.#urls = await Promise.all(workers.map(({ name }) => this.#runtime.unsafeGetDirectURL(name)));
    if (!this.migrated) await this.#migrate();
    this.migrated = true;
  }

  #worker(index, modules, vars) {
    return {
      name: `isolate-${index}`,
      modules,
      modulesRoot: ROOT,
      ...this.#options.written,
      bindings: vars,
      durableObjects: {
        BUCKETS: { className: "BucketActor", useSQLite: true, ...(index > 0 && { scriptName: "isolate-0" }) },
      },
      d1Databases: { DB: "penstock" },
      unsafeDirectSockets: [{ host: "127.0.0.1", port: index === 0 ? this.#options.port : 0 }],
      stripCfConnectingIp: false,
      ...(this.#options.outbound && { outboundService: { node: this.origin.serve } }),
    };
  }

  async #migrate() {
    const folder = join(ROOT, "migrations");
    for (const file of (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort()) {
      const text = (await readFile(join(folder, file), "utf8")).replace(/--.*$/gm, "");
      for (const statement of text.split(";")) if (statement.trim()) await this.d1(statement);
    }
  }

  async stop() {
    await this.#runtime?.dispose();
    this.#runtime = undefined;
  }

  /** Ends the runtime, as a deploy or a crash of the machine would, and starts it on the same state. */
  async restart() {
    await this.stop();
    await this.launch();
  }

  /** The same with some other vars. */
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

  /** Moves the standing clock on (or back, below zero). */
  advance(by) {
    return this.freeze(this.at + by);
  }

  /** Lets every clock run on at the real speed from where it stands. */
  run() {
    return this.#orderAll({ op: "run", at: this.at });
  }

  /** Makes the first isolate's next readings of its clock throw through the Worker's own code: `kind` "trap" or "error". */
  trip(kind, options = {}) {
    return this.#order({ op: "trip", kind, ...options });
  }

  /** Orders faults: `{ actor }` for calls to Durable Objects, `{ d1 }` for statements to D1, `{ disk: true }` for actors' full disks; null ends one. */
  async fail(faults) {
    await this.#orderAll({ op: "faults", faults });
  }

  /** Calls to actors by name and statements to D1, as all isolates made them. */
  async asked() {
    const all = await this.#orderAll({ op: "asked" });
    const actors = {};
    for (const one of all) for (const [name, calls] of Object.entries(one.actors)) actors[name] = (actors[name] ?? 0) + calls;
    return { actors, calls: Object.values(actors).reduce((sum, calls) => sum + calls, 0), d1: all.reduce((sum, one) => sum + one.d1, 0) };
  }

  /** Every object that was ever asked for: its name, what happened in it, and its tables. */
  async objects() {
    Object.assign(this.#known, ...(await this.#orderAll({ op: "objects" })));
    return Promise.all(
      Object.entries(this.#known).map(async ([id, name]) => ({ id, name, ...(await this.#order({ op: "object", id, order: { op: "look" } })) })),
    );
  }

  /** Runs the alarm of every object that has one set, as if it were due. */
  async alarms() {
    const objects = (await this.objects()).filter(({ alarmAt }) => alarmAt !== null);
    for (const { id } of objects) await this.#order({ op: "object", id, order: { op: "alarm" } });
    return objects.length;
  }

  /** Evicts every object, as the runtime does with idle ones: memory is lost, storage stays. */
  async evict() {
    for (const { id } of await this.objects()) await this.#runtime.unsafeEvictDurableObject("isolate-0", "BucketActor", { id });
  }

  /** Crashes every object in its tracks. */
  async crash() {
    for (const { id } of await this.objects()) await this.#order({ op: "object", id, order: { op: "crash" } }).catch(() => {});
  }

  /** Collects the Workers' garbage, or `all` of the runtime's, where the edge was started with `inspect`; the bytes that the Workers keep. */
  async collect({ all = false } = {}) {
    return collect(await this.#runtime.getInspectorURL(), all);
  }

  /** Changes what objects have on disk, where their names contain `match`. */
  async damage(match, sql) {
    for (const { id, name } of await this.objects()) if (name.includes(match)) await this.#order({ op: "object", id, order: { op: "sql", sql } });
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

/** The entry and its helpers, and the built Worker, as the runtime wants them. */
async function loadModules({ token, at }) {
  const harness = import.meta.dirname;
  const inHarness = (name) => join(ROOT, "tests/edge/harness", name);
  const own = ["entry.mjs", "clock.mjs", "faults.mjs"].map(async (name) => ({
    type: "ESModule",
    path: inHarness(name),
    contents: await readFile(join(harness, name), "utf8"),
  }));
  const given = { type: "ESModule", path: inHarness("start.mjs"), contents: `export const token = ${JSON.stringify(token)}, at = ${at};` };
  const built = [
    { type: "ESModule", path: join(ROOT, "build/index.js"), contents: await readFile(join(ROOT, "build/index.js"), "utf8") },
    { type: "CompiledWasm", path: join(ROOT, "build/index_bg.wasm"), contents: await readFile(join(ROOT, "build/index_bg.wasm")) },
  ];
  return [...(await Promise.all(own)), given, ...built];
}
