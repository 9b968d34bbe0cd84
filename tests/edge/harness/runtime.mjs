// The real runtime, with the built Worker in it as many times as a test wants isolates.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from "miniflare";
import { compatibility } from "./compatibility.mjs";

/**
 * Starts a runtime of the project in `root`.
 *
 * @param {object} options as `start` of edge.mjs has them, with `state`, the folder where it
 *   stores, and `serve`, the origin's request handler
 * @param {object} given `token` marks requests that are for the entry, `at` is where the clock
 *   stands
 * @param {Function} log takes every line that the Worker writes
 * @returns `{ runtime, urls }`: where each isolate listens
 */
export async function startRuntime(root, options, given, log) {
  const modules = await loadModules(root, given);
  const settings = await compatibility(root);
  const workers = Array.from({ length: options.isolates }, (_, index) => worker(index, { root, modules, settings, ...options }));
  const runtime = new Miniflare(
    convertV4MiniflareOptions({
      workers,
      log: new Log(LogLevel.NONE),
      cf: false,
      telemetry: { enabled: false },
      ...(options.inspect && { inspectorPort: 0 }),
      resourcePersistencePath: options.state,
      handleStructuredLogs: log,
    }),
  );
  await runtime.ready;
  return { runtime, urls: await Promise.all(workers.map(({ name }) => runtime.unsafeGetDirectURL(name))) };
}

/** One isolate. The first has the Durable Objects; the others call them there. */
function worker(index, { root, modules, settings, vars, edited, port, outbound, serve }) {
  const all = Object.entries({ ...vars, ...(index > 0 && edited) });
  return {
    name: `isolate-${index}`,
    modules,
    modulesRoot: root,
    ...settings,
    bindings: Object.fromEntries(all.filter(([, value]) => value !== null)),
    durableObjects: {
      BUCKETS: { className: "BucketActor", useSQLite: true, ...(index > 0 && { scriptName: "isolate-0" }) },
    },
    d1Databases: { DB: "penstock" },
    unsafeDirectSockets: [{ host: "127.0.0.1", port: index === 0 ? port : 0 }],
    stripCfConnectingIp: false,
    ...(outbound && { outboundService: { node: serve } }),
  };
}

/** The harness's entry with its helpers, and the built Worker. */
async function loadModules(root, { token, at }) {
  const inHarness = (name) => join(root, "tests/edge/harness", name);
  const inBuild = (name) => join(root, "build", name);
  const own = ["entry.mjs", "clock.mjs", "faults.mjs"].map(async (name) => ({
    type: "ESModule",
    path: inHarness(name),
    contents: await readFile(join(import.meta.dirname, name), "utf8"),
  }));
  const contents = `export const token = ${JSON.stringify(token)}, at = ${at};`;
  const given = { type: "ESModule", path: inHarness("start.mjs"), contents };
  const built = [
    { type: "ESModule", path: inBuild("index.js"), contents: await readFile(inBuild("index.js"), "utf8") },
    { type: "CompiledWasm", path: inBuild("index_bg.wasm"), contents: await readFile(inBuild("index_bg.wasm")) },
  ];
  return [...(await Promise.all(own)), given, ...built];
}

/** The statements of the project's migrations after the first `applied` files, in their order. */
export async function migrations(root, applied = 0) {
  const folder = join(root, "migrations");
  const files = (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort().slice(applied);
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
  const statements = texts.flatMap((text) => text.replace(/--.*$/gm, "").split(";"));
  return statements.filter((statement) => statement.trim());
}
