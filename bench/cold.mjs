// The first request of an isolate. Each variant has a process of its own each time, since isolates of
// one process share compiled modules. Another Worker in it has answered before, so that no figure has
// the process's own first request in it.
import { exampleVars } from "./config.mjs";
import { median } from "./stats.mjs";
import { start } from "./runtime.mjs";
import { request, VARIANTS } from "./variants.mjs";

const known = (id, rest = {}) => ({ ...VARIANTS.find((variant) => variant.id === id), ...rest });
const penstock = (id, name, vars) => known("penstock", { id, name, worker: { ...known("penstock").worker, vars } });

export const COLD = [
  known("js"),
  known("rust"),
  penstock("unmet", "**Penstock**, a request that meets no limit", { LIMIT_API: { route: "/other/*", per_ip: "1/s" } }),
  penstock("address", "**Penstock**, one limit for the address", { LIMIT_BASE: { per_ip: "60000/s" } }),
  penstock("example", "**Penstock**, the example configuration", exampleVars()),
  known("object-memory"),
];

/** Milliseconds of the first request of each variant and of those after it, by round. */
export async function cold({ origin, load, rounds, say }) {
  const results = Object.fromEntries(COLD.map(({ id }) => [id, { first: [], warm: [] }]));
  for (let round = 0; round < rounds; round++) {
    const from = round % COLD.length;
    for (const variant of [...COLD.slice(from), ...COLD.slice(0, from)]) {
      const { first, warm } = await one(variant, { origin, load });
      results[variant.id].first.push(first);
      results[variant.id].warm.push(warm);
    }
  }
  for (const { id } of COLD) say(`${id}: ${median(results[id].first).toFixed(1)} ms, ${median(results[id].warm).toFixed(2)} ms warm`);
  return { rounds, names: Object.fromEntries(COLD.map(({ id, name }) => [id, name])), results };
}

async function one(variant, { origin, load }) {
  const runtime = await start([known("js", { id: "warm" }), variant], { origin });
  try {
    const order = async (id, requests) => {
      const { p50, statuses } = await load({ urls: [await runtime.url(id)], head: request(), connections: 1, requests });
      if (statuses[200] !== requests) throw new Error(`${id}: ${JSON.stringify(statuses)}`);
      return p50;
    };
    await order("warm", 50);
    return { first: await order(variant.id, 1), warm: await order(variant.id, 100) };
  } finally {
    await runtime.stop();
  }
}
