// How fast the variants are, side by side: short slots in turn, round after round, so that whatever
// else the machine does falls on all of them alike.
import { median } from "./stats.mjs";
import { request } from "./variants.mjs";

export const CONNECTIONS = [1, 16, 64];

/** For each variant and number of connections, one figure per round: `{ rps, p50, p99, cpu }`. */
export async function throughput(runtime, load, variants, { rounds, ms, say }) {
  const results = Object.fromEntries(variants.map(({ id }) => [id, Object.fromEntries(CONNECTIONS.map((n) => [n, []]))]));
  for (const variant of variants) await slot(runtime, load, variant, { connections: 16, ms });
  for (let round = 1; round <= rounds; round++) {
    // Each round begins with another variant, so that nobody always comes after the same one.
    const turns = [...variants.slice(round % variants.length), ...variants.slice(0, round % variants.length)];
    for (const connections of CONNECTIONS) {
      for (const variant of turns) results[variant.id][connections].push(await slot(runtime, load, variant, { connections, ms }));
    }
    say(`round ${round} of ${rounds}`);
  }
  return results;
}

async function slot(runtime, load, { id, role, accept }, { connections, ms }) {
  const before = runtime.cpu();
  const done = await load({ urls: [await runtime.url(id)], head: request({ accept }), connections, ms });
  const after = runtime.cpu();
  const wanted = role === "refuse" || role === "refusing" ? 429 : 200;
  const others = done.requests - (done.statuses[wanted] ?? 0);
  // A refused caller's very first request is admitted.
  if (others > (role === "refusing" ? 1 : 0)) throw new Error(`${id}: ${JSON.stringify(done.statuses)}, expected ${wanted} alone`);
  return {
    rps: done.requests / done.seconds,
    p50: done.p50,
    p99: done.p99,
    cpu: before === null ? null : (after - before) / done.requests,
  };
}

/**
 * How much longer a refused caller waits for the page than for the problem details: the median over
 * the rounds.
 */
export function page({ throughput }) {
  const [one] = CONNECTIONS;
  const ratios = throughput["penstock-page"][one].map(({ p50 }, round) => p50 / throughput["penstock-429"][one][round].p50);
  const share = median(ratios);
  return { what: "A refusal as a page beside one as problem details: p50 at 1 connection", figure: share.toFixed(2), bar: "≤ 1.2", holds: share <= 1.2 };
}

/**
 * The platform's work for each variant, per 1,000 requests of one caller over 16 connections.
 */
export async function cost(runtime, load, variants, { ms }) {
  const results = {};
  for (const { id, accept } of variants) {
    const order = { urls: [await runtime.url(id)], head: request({ accept }), connections: 16 };
    await load({ ...order, requests: 16 });
    const before = await runtime.counts(id);
    const { requests } = await load({ ...order, ms });
    const after = await runtime.counts(id);
    results[id] = Object.fromEntries(Object.entries(after).map(([name, n]) => [name, ((n - before[name]) * 1000) / requests]));
  }
  return results;
}

/** How many of one caller's requests each limiter admits, over several isolates at once. */
export async function admitted(runtime, load, variants, { LIMIT, PERIOD, isolates, requests }) {
  const results = {};
  for (const { id, bucket } of variants) {
    const urls = await Promise.all(Array.from({ length: isolates }, (_, index) => runtime.url(id, index)));
    // Fixed windows begin with the wall clock's minute: one must not end while this runs.
    const left = PERIOD * 1000 - (Date.now() % (PERIOD * 1000));
    if (left < 15_000) await new Promise((resolve) => setTimeout(resolve, left + 100));
    const done = await load({ urls, head: request(), connections: 16 * isolates, requests });
    // A bucket regains tokens meanwhile; a fixed window does not.
    const limit = LIMIT + (bucket ? Math.floor((done.seconds * LIMIT) / PERIOD) : 0);
    results[id] = { admitted: done.statuses[200] ?? 0, limit };
  }
  return results;
}
