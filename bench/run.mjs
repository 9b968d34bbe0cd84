// `make bench`: measures, and writes docs/benchmarks.md and docs/benchmarks.svg.
//
// QUICK=1 takes under two minutes and is for trying changes; ADDRESSES is how many addresses the visitors' scenario has.
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { chart } from "./chart.mjs";
import * as processes from "./processes.mjs";
import { report } from "./report.mjs";
import { ROOT, start } from "./runtime.mjs";
import * as scenarios from "./scenarios.mjs";
import { admitted, cost, page, throughput } from "./throughput.mjs";
import { limited, VARIANTS } from "./variants.mjs";

const quick = process.env.QUICK === "1";
const plan = quick
  ? { rounds: 2, ms: 400, countMs: 800, seconds: 6, addresses: 2_000 }
  : { rounds: 12, ms: 700, countMs: 3_000, seconds: 12, addresses: 100_000 };
plan.addresses = Number(process.env.ADDRESSES ?? plan.addresses);
const LIMIT = { LIMIT: 1000, PERIOD: 60, isolates: 4, requests: 3000 };

const say = (text) => console.log(`  ${text}`);

async function using(runtime, use) {
  try {
    return await use(runtime);
  } finally {
    await runtime.stop();
  }
}

/** Published limiters are compared where their packages are installed. */
function installed({ packages = [] }) {
  const places = [join(ROOT, "node_modules"), ...(process.env.NODE_PATH ?? "").split(":").filter(Boolean)];
  return packages.every((name) => places.some((place) => existsSync(join(place, name, "package.json"))));
}

const variants = VARIANTS.filter(installed);
const origin = await processes.origin();
const load = processes.callers();
const results = { plan, quick, variants, missing: VARIANTS.filter((variant) => !installed(variant)) };
try {
  console.log(`Speed: ${variants.length} variants in turn, at 1, 16 and 64 connections`);
  results.throughput = await using(await start(variants, { origin }), (runtime) => throughput(runtime, load, variants, { ...plan, say }));
  console.log("What each makes the platform do");
  results.cost = await using(await start(variants, { origin, count: true }), (runtime) => cost(runtime, load, variants, { ms: plan.countMs }));
  console.log("How many each admits");
  const limiters = limited(LIMIT).filter(installed);
  const options = { origin, isolates: LIMIT.isolates };
  results.admitted = await using(await start(limiters, options), (runtime) => admitted(runtime, load, limiters, LIMIT));
  console.log("Scenarios");
  results.scenarios = [page(results)];
  for (const name of ["hot", "slow", "visitors", "crowd"]) {
    const lines = await scenarios[name]({ origin, load, ...plan });
    lines.forEach(({ what, figure, bar, holds }) => say(`${holds ? "holds " : "MISSED"} ${what}: ${figure} (bar: ${bar})`));
    results.scenarios.push(...lines);
  }
} finally {
  processes.stop();
}

const version = (name) => createRequire(join(ROOT, "package.json"))(`${name}/package.json`).version;
results.workerd = version("workerd");
results.decision = await readFile(join(ROOT, "target/decision.txt"), "utf8").catch(() => null);
await mkdir(join(ROOT, "docs"), { recursive: true });
await writeFile(join(ROOT, "target/bench.json"), JSON.stringify(results, null, 1));
const into = quick ? "target" : "docs";
await writeFile(join(ROOT, into, "benchmarks.md"), report(results));
await writeFile(join(ROOT, into, "benchmarks.svg"), chart(results));
console.log(`\n${report(results)}\nWritten to ${into}/benchmarks.md and ${into}/benchmarks.svg.`);
