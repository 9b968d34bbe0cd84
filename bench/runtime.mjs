// Starts variants' Workers in one workerd, each on a socket of its own with nothing in front of it.
// Nothing but the Worker itself is in the path that is measured; a counting run (`count`) puts
// counters around it, and a run on the `held` clock (the distances `{ actor, d1 }` in milliseconds)
// counters and the clock: see held/drive.mjs.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from "miniflare";
import { compatibility } from "../tests/edge/harness/compatibility.mjs";
import { modulesOf, ROOT } from "./modules.mjs";

export { ROOT };

/**
 * A file system in memory, where there is one: nobody waits for a disk then, which favours those
 * who write most.
 */
const MEMORY = "/dev/shm";

/**
 * With `isolates` more than one, every variant runs in so many, all with the same objects and
 * databases.
 */
export async function start(variants, { origin, count = false, isolates = 1, held }) {
  const state = await mkdtemp(join(existsSync(MEMORY) ? MEMORY : tmpdir(), "penstock-bench-"));
  const all = { origin, written: await compatibility(ROOT) };
  const workers = [];
  for (const variant of variants) {
    const modules = await modulesOf(variant.worker, { count, held });
    for (let index = 0; index < isolates; index++) workers.push(workerOf(variant, modules, index, all));
  }
  const runtime = new Miniflare(
    convertV4MiniflareOptions({
      workers,
      log: new Log(LogLevel.NONE),
      cf: false,
      telemetry: { enabled: false },
      resourcePersistencePath: state,
      // Log lines of Workers are thrown away here; saying them is their cost all the same.
      handleStructuredLogs: () => {},
    }),
  );
  await runtime.ready;
  for (const variant of variants) await migrate(runtime, variant);
  return new Runtime(runtime, state);
}

class Runtime {
  #runtime;
  #state;

  constructor(runtime, state) {
    this.#runtime = runtime;
    this.#state = state;
    this.pid = child();
  }

  url(id, isolate = 0) {
    return this.#runtime.unsafeGetDirectURL(nameOf(id, isolate));
  }

  /** The counts of a counting run so far, in all isolates of a variant. */
  async counts(id, isolates = 1) {
    const sum = {};
    for (let isolate = 0; isolate < isolates; isolate++) {
      const counts = await (await fetch(new URL("/counts", await this.url(id, isolate)))).json();
      for (const [name, n] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + n;
    }
    return sum;
  }

  /** In a counting run: how many rows a variant's objects hold. */
  async rows(id) {
    return Number(await (await fetch(new URL("/rows", await this.url(id)))).text());
  }

  /**
   * Processor time that workerd has used so far, in microseconds; null where the system does not
   * say.
   */
  cpu() {
    try {
      const fields = readFileSync(`/proc/${this.pid}/stat`, "utf8").replace(/^.*\) /, "").split(" ");
      return (Number(fields[11]) + Number(fields[12])) * 10_000;
    } catch {
      return null;
    }
  }

  async stop() {
    await this.#runtime.dispose();
    await rm(this.#state, { recursive: true, force: true });
  }
}

const nameOf = (id, isolate) => (isolate === 0 ? id : `${id}-${isolate}`);

/** The workerd that this process has started last. */
function child() {
  const ours = (pid) => {
    try {
      const [, name, parent] = /^\d+ \((.*)\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8"));
      return name === "workerd" && Number(parent) === process.pid;
    } catch {
      return false;
    }
  };
  if (!existsSync("/proc/self/stat")) return null;
  return Math.max(...readdirSync("/proc").filter((name) => /^\d+$/.test(name)).filter(ours).map(Number));
}

function workerOf({ id, worker, origin: forwards }, modules, index, { origin, written }) {
  const { objects = {}, d1 = {}, ratelimits, vars = {} } = worker;
  const bind = ([binding, { class: className }]) => [binding, { className, useSQLite: true, ...(index > 0 && { scriptName: id }) }];
  return {
    name: nameOf(id, index),
    modules,
    modulesRoot: ROOT,
    ...written,
    bindings: { ...(forwards !== false && { ORIGIN: origin }), ...vars },
    durableObjects: Object.fromEntries(Object.entries(objects).map(bind)),
    d1Databases: Object.fromEntries(Object.keys(d1).map((binding) => [binding, `${id}-${binding}`])),
    ...(ratelimits && { ratelimits: { [ratelimits]: { namespace_id: id, simple: { limit: vars.LIMIT, period: vars.PERIOD } } } }),
    unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
    stripCfConnectingIp: false,
  };
}

async function migrate(runtime, { id, worker }) {
  for (const [binding, folder] of Object.entries(worker.d1 ?? {})) {
    const database = await runtime.getD1Database(binding, id);
    for (const file of (await readdir(join(ROOT, folder))).filter((name) => name.endsWith(".sql")).sort()) {
      const text = (await readFile(join(ROOT, folder, file), "utf8")).replace(/--.*$/gm, "");
      for (const statement of text.split(";")) if (statement.trim()) await database.prepare(statement).run();
    }
  }
}
