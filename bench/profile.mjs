// `make profile`: where a request's processor time goes, by leaving parts of the work out. Writes docs/profile.md.
//
// Processor time depends less than speed does on what else the machine does, but not little: so each variant has a short turn, many times.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as processes from "./processes.mjs";
import { median } from "./stats.mjs";
import { ROOT, start } from "./runtime.mjs";
import { FOUR_LIMITS, request, VARIANTS } from "./variants.mjs";

const ROUNDS = Number(process.env.ROUNDS ?? 40);
const REQUESTS = 1_600;
const CONNECTIONS = 16;

const known = (id) => VARIANTS.find((variant) => variant.id === id);
const headers = (id, name, vars) => ({ id, name, role: "pass", worker: { entry: "bench/workers/headers.mjs", vars } });
const penstock = (id, name, vars) => ({ ...known("penstock"), id, name, worker: { ...known("penstock").worker, vars } });

const PARTS = [
  {
    title: "Allowed",
    variants: [
      known("js"),
      headers("there", "the same, and a header more on the way to the origin", { THERE: "1" }),
      headers("back", "the same, and two headers more on the way back", { BACK: "1" }),
      headers("both", "both", { THERE: "1", BACK: "1" }),
      known("rust"),
      penstock("unmet", "Penstock, a request that meets no limit", { LIMIT_API: { route: "/other/*", per_ip: "1/s" }, HEADERS: "none" }),
      penstock("quiet", "Penstock, four limits, `HEADERS = \"none\"`", { ...FOUR_LIMITS, HEADERS: "none" }),
      known("penstock"),
    ],
  },
  { title: "Refused", variants: ["js-429", "rust-429", "penstock-429", "penstock-page"].map(known) },
];

/** Measured once, by hand: the builds of then are not here any more. */
const STEPS = `## What each step gave

Builds from after each step, in turns in one run of their own: requests per processor time, of the bare Rust Worker's. (The machine was busy, which
makes more of what a build has more to do. To repeat it, build older commits into folders beside \`build\` and give each as the \`entry\` of a variant above.)

| after | allowed | refused |
| --- | --- | --- |
| leases and remembered denials alone | 0.80 | 0.57 |
| the clock is looked at once a turn, not two dozen times | 0.83 | 0.63 |
| method, URL and headers are read in one call to JavaScript; a flood is not logged line by line | 0.86 | 0.66 |
| an entry without worker-build's proxies, and without the runtime's \`queueMicrotask\`; actors called in one call | 0.86 | 0.72 |
| decided within the runtime's own call, without a promise; the origin's answer does not come by the module again | 1.01 | 0.86 |

The two headers on the way back are most of what is left: the runtime lets nobody add one to an answer without copying all of them.
`;

async function measured(runtime, load, variants) {
  const turns = Object.fromEntries(variants.map(({ id }) => [id, []]));
  for (let round = -2; round < ROUNDS; round++) {
    const from = Math.abs(round) % variants.length;
    for (const { id, accept } of [...variants.slice(from), ...variants.slice(0, from)]) {
      const before = runtime.cpu();
      const done = await load({ urls: [await runtime.url(id)], head: request({ accept }), connections: CONNECTIONS, requests: REQUESTS });
      // The first turns warm up.
      if (round >= 0) turns[id].push((runtime.cpu() - before) / done.requests);
    }
  }
  return turns;
}

function table(variants, turns) {
  const [first] = variants;
  const line = ({ id, name }) => {
    const own = turns[id];
    const more = median(own.map((cpu, round) => cpu - turns[first.id][round]));
    return `| ${name} | ${median(own).toFixed(0)} | ${id === first.id ? "" : more.toFixed(0)} |`;
  };
  return ["|  | µs per request | more than the first, in the same round |", "| --- | --- | --- |", ...variants.map(line)].join("\n");
}

const origin = await processes.origin();
const load = processes.callers();
const tables = [];
for (const { title, variants } of PARTS) {
  console.log(`  ${title}: ${variants.length} variants, ${ROUNDS} turns of ${REQUESTS} requests each`);
  const runtime = await start(variants, { origin });
  if (runtime.cpu() === null) throw new Error("this system does not say how much processor time a process has used");
  tables.push(`## ${title}\n\n${table(variants, await measured(runtime, load, variants))}\n`);
  await runtime.stop();
}
processes.stop();

const text = `# Where a request's time goes

This page answers: where does a request's processor time go?

Written by \`make profile\`: processor time of the runtime's process, over ${CONNECTIONS} connections, medians of ${ROUNDS} turns of ${REQUESTS} requests each.
The difference between two lines is the cost of what differs between them.

${tables.join("\n")}
${STEPS}`;
await writeFile(join(ROOT, "docs/profile.md"), text);
console.log(`\n${text}\nWritten to docs/profile.md.`);
