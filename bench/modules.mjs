// The modules of a variant's Worker: as it was built, with counters around it, or with counters and
// the held clock.
import { readFile } from "node:fs/promises";
import { delimiter, join, resolve } from "node:path";
import { build } from "esbuild";

export const ROOT = resolve(import.meta.dirname, "..");

/**
 * `count` puts counters around the Worker; `held`, the distances `{ actor, d1 }`, puts it on the
 * held clock as well.
 */
export async function modulesOf(worker, { count, held }) {
  const { entry, wasm } = worker;
  if (held) return around(worker, heldText(worker, held));
  if (count) return around(worker, countedText(worker));
  if (!wasm) return [await bundled({ entryPoints: [join(ROOT, entry)] })];
  return built(entry);
}

async function built(entry) {
  const path = join(ROOT, entry);
  const wasm = join(path, "../index_bg.wasm");
  return [
    { type: "ESModule", path, contents: await readFile(path, "utf8") },
    { type: "CompiledWasm", path: wasm, contents: await readFile(wasm) },
  ];
}

async function bundled(options) {
  const { outputFiles } = await build({
    ...options,
    bundle: true,
    write: false,
    format: "esm",
    target: "esnext",
    external: ["cloudflare:*", "*.wasm"],
    nodePaths: (process.env.NODE_PATH ?? "").split(delimiter).filter(Boolean),
    logLevel: "error",
  });
  return { type: "ESModule", path: join(ROOT, "bench/workers/bundle.mjs"), contents: outputFiles[0].text };
}

/** A module that is put around the Worker, in one with it. */
async function around({ entry, wasm }, contents) {
  const bundle = await bundled({ stdin: { contents, resolveDir: join(ROOT, "bench/workers") } });
  if (!wasm) return [bundle];
  const beside = (await built(entry))[1];
  return [bundle, { ...beside, path: join(ROOT, "bench/workers/index_bg.wasm") }];
}

const watched = ({ class: name, calls }) => `watchObject(built.${name}, ${JSON.stringify(calls)})`;

function countedText({ entry, objects = {} }) {
  return `
    import * as built from ${JSON.stringify(join(ROOT, entry))};
    import { watchObject, watchWorker } from "./count.mjs";
    export default watchWorker(built.default);
    ${Object.values(objects).map((one) => `export const ${one.class} = ${watched(one)};`).join("\n")}`;
}

function heldText({ entry, objects = {}, d1 = {}, ratelimits }, distance) {
  const held = { objects, d1: Object.keys(d1), limiters: ratelimits ? [ratelimits] : [], distance };
  const classes = Object.entries(objects).map(
    ([binding, one]) => `export const ${one.class} = heldObject(${watched(one)}, ${JSON.stringify(binding)}, held);`,
  );
  return `
    import "../held/clock.mjs";
    import * as built from ${JSON.stringify(join(ROOT, entry))};
    import { watchObject } from "./count.mjs";
    import { heldObject } from "../held/objects.mjs";
    import { heldWorker } from "../held/session.mjs";
    const held = ${JSON.stringify(held)};
    export default heldWorker(built.default, held);
    ${classes.join("\n")}`;
}
