// The first request of an isolate. In each round a process starts with a new isolate for each
// variant. Another Worker in it has answered before, so that no figure has the process's own first
// request in it.
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

/** Milliseconds of the first and the hundredth request of each variant, by round. */
export async function cold({ origin, load, rounds, say }) {
  const results = Object.fromEntries(COLD.map(({ id }) => [id, { first: [], warm: [] }]));
  const warm = known("js", { id: "warm" });
  for (let round = 0; round < rounds; round++) {
    const from = round % COLD.length;
    const turns = [...COLD.slice(from), ...COLD.slice(0, from)];
    const runtime = await start([warm, ...turns], { origin });
    try {
      const order = async (id, requests) => load({ urls: [await runtime.url(id)], head: request(), connections: 1, requests });
      await order("warm", 50);
      for (const { id } of turns) {
        const { p50, statuses } = await order(id, 1);
        if (statuses[200] !== 1) throw new Error(`${id}: ${JSON.stringify(statuses)}`);
        results[id].first.push(p50);
      }
      for (const { id } of turns) results[id].warm.push((await order(id, 100)).p50);
    } finally {
      await runtime.stop();
    }
  }
  for (const { id } of COLD) say(`${id}: ${median(results[id].first).toFixed(1)} ms, ${median(results[id].warm).toFixed(2)} ms warm`);
  return { rounds, names: Object.fromEntries(COLD.map(({ id, name }) => [id, name])), results };
}
