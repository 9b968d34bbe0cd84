// `make bench`: measures, and writes docs/benchmarks.md and its charts.
//
// QUICK=1 is for trying changes, and writes into target/ alone. PARTS=real,distance measures these
// alone, and leaves the other sections of the page as they stand. LOG=FILE measures the traffic of
// an access log, and nothing else. ADDRESSES is how many addresses the visitors' scenario has.
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { cold } from "./cold.mjs";
import { distance } from "./distance.mjs";
import * as processes from "./processes.mjs";
import { real } from "./real.mjs";
import { replayed } from "./replay.mjs";
import { distanceChart } from "./report/distance.mjs";
import { page } from "./report/page.mjs";
import { realChart } from "./report/real.mjs";
import { speedChart } from "./report/speed-chart.mjs";
import { ROOT, start } from "./runtime.mjs";
import * as scenarios from "./scenarios.mjs";
import { admitted, cost, page as refusalPage, throughput } from "./throughput.mjs";
import { limited, VARIANTS } from "./variants.mjs";

const quick = process.env.QUICK === "1";
const plan = quick
  ? { rounds: 2, ms: 400, countMs: 800, seconds: 6, addresses: 2_000, coldRounds: 3 }
  : { rounds: 12, ms: 700, countMs: 3_000, seconds: 12, addresses: 100_000, coldRounds: 15 };
plan.addresses = Number(process.env.ADDRESSES ?? plan.addresses);
const LIMIT = { LIMIT: 1000, PERIOD: 60, isolates: 4, requests: 3000 };

const say = (text) => console.log(`  ${text}`);

/** Published limiters are compared where their packages are installed. */
function installed({ packages = [] }) {
  const places = [join(ROOT, "node_modules"), ...(process.env.NODE_PATH ?? "").split(":").filter(Boolean)];
  return packages.every((name) => places.some((place) => existsSync(join(place, name, "package.json"))));
}

async function using(runtime, use) {
  try {
    return await use(runtime);
  } finally {
    await runtime.stop();
  }
}

const variants = VARIANTS.filter(installed);
let origin;
let load;

/** The parts, in the order of the page: what is said of each, and what each adds to the results. */
const PARTS = {
  real: ["Real traffic, on the held clock", async () => ({ real: await real({ quick, installed, say }) })],
  distance: ["Distance, on the held clock", async () => ({ distance: await distance({ installed, say }) })],
  cold: ["First requests of new isolates", async () => ({ cold: await cold({ origin, load, rounds: plan.coldRounds, say }) })],
  speed: [`Speed: ${variants.length} variants in turn, at 1, 16 and 64 connections`, speed],
  cost: ["What one hot caller makes the platform do, and how many are admitted", costs],
  shaped: ["Traffic with a shape", shaped],
  decision: ["One decision", async () => ({ decision: await readFile(join(ROOT, "target/decision.txt"), "utf8").catch(() => null) })],
};

async function speed() {
  return { throughput: await using(await start(variants, { origin }), (runtime) => throughput(runtime, load, variants, { ...plan, say })) };
}

async function costs() {
  const counted = await using(await start(variants, { origin, count: true }), (runtime) => cost(runtime, load, variants, { ms: plan.countMs }));
  const limiters = limited(LIMIT).filter(installed);
  const options = { origin, isolates: LIMIT.isolates };
  const passed = await using(await start(limiters, options), (runtime) => admitted(runtime, load, limiters, LIMIT));
  return { cost: counted, admitted: passed };
}

async function shaped(results) {
  const all = results.throughput ? [refusalPage(results)] : [];
  for (const name of ["hot", "slow", "visitors", "crowd"]) {
    const lines = await scenarios[name]({ origin, load, ...plan });
    lines.forEach(({ what, figure, bar, holds }) => say(`${holds ? "holds " : "MISSED"} ${what}: ${figure} (bar: ${bar})`));
    all.push(...lines);
  }
  return { scenarios: all };
}

async function measure(names) {
  const version = (name) => createRequire(join(ROOT, "package.json"))(`${name}/package.json`).version;
  const missing = VARIANTS.filter((variant) => !installed(variant));
  const results = { plan, quick, variants, missing, workerd: version("workerd") };
  for (const name of names) {
    if (!PARTS[name]) throw new Error(`there is no part ${name}, but ${Object.keys(PARTS).join(", ")}`);
    const [what, part] = PARTS[name];
    const begun = performance.now();
    console.log(what);
    Object.assign(results, await part(results));
    say(`${((performance.now() - begun) / 1000).toFixed(0)} s`);
  }
  return results;
}

async function write(results) {
  const into = quick ? "target" : "docs";
  const old = await readFile(join(ROOT, "docs/benchmarks.md"), "utf8").catch(() => "");
  const text = page(results, old);
  const files = {
    [join(ROOT, "target/bench.json")]: JSON.stringify(results, null, 1),
    [join(ROOT, into, "benchmarks.md")]: text,
    ...(results.real && { [join(ROOT, into, "benchmarks-real.svg")]: realChart(results.real) }),
    ...(results.distance && { [join(ROOT, into, "benchmarks-distance.svg")]: distanceChart(results.distance) }),
    ...(results.throughput && results.cost && { [join(ROOT, into, "benchmarks.svg")]: speedChart(results) }),
  };
  for (const [path, contents] of Object.entries(files)) await writeFile(path, contents);
  console.log(`\n${text}\nWritten to ${into}/benchmarks.md, with its charts.`);
}

try {
  origin = await processes.origin();
  load = processes.callers();
  if (process.env.LOG) {
    const text = await replayed(process.env.LOG, { installed, say });
    await writeFile(join(ROOT, "target/bench-log.md"), text);
    console.log(`\n${text}\nWritten to target/bench-log.md.`);
  } else {
    await write(await measure(process.env.PARTS?.split(",") ?? Object.keys(PARTS)));
  }
} finally {
  processes.stop();
}
