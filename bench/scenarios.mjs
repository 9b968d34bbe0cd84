// Traffic with a shape, and what it costs: figures of counting, not of speed. Each is held against
// its bar.
import { start as startEdge, SECOND } from "../tests/edge/harness/index.mjs";
import { start } from "./runtime.mjs";
import { request, VARIANTS } from "./variants.mjs";

const PENSTOCK = VARIANTS.find(({ id }) => id === "penstock");

async function withPenstock(vars, options, use) {
  const runtime = await start([{ ...PENSTOCK, worker: { ...PENSTOCK.worker, vars } }], options);
  try {
    return await use(runtime);
  } finally {
    await runtime.stop();
  }
}

const line = (what, figure, bar, holds) => ({ what, figure, bar, holds });

/**
 * One caller, 200 requests a second for ten seconds, from a cold start, within all four of its
 * limits.
 */
export function hot({ origin, load }) {
  const vars = {
    LIMIT_BASE: { per_ip: "500/s", global: "5000/s" },
    LIMIT_API: { route: "/v1/*", per_key: ["300/s burst 600", "100000/day"] },
  };
  return withPenstock(vars, { origin, count: true }, async (runtime) => {
    const order = { urls: [await runtime.url("penstock")], head: request(), connections: 32, rate: 200, requests: 2000 };
    const { statuses } = await load(order);
    // Work that goes on after an answer is still to be counted.
    await new Promise((resolve) => setTimeout(resolve, 2500));
    const counts = await runtime.counts("penstock");
    const per = (n) => (n * 1000) / order.requests;
    const what = "One caller, 2,000 requests in 10 s, all four limits on";
    return [
      line(`${what}: admitted`, `${statuses[200] ?? 0}`, "2000", statuses[200] === 2000),
      line("actor calls per 1,000 requests", per(counts.actors).toFixed(1), "≤ 60", per(counts.actors) <= 60),
      line("D1 statements per 1,000 requests", per(counts.d1).toFixed(1), "≤ 25", per(counts.d1) <= 25),
      line("rows written per 1,000 requests", per(counts.rows).toFixed(1), "≤ 50", per(counts.rows) <= 50),
    ];
  });
}

/** One request every ten seconds by a clock that a test holds, against what GCRA says by pencil. */
export async function slow() {
  const after = [];
  const vars = { LIMIT_BASE: { per_ip: "5/min" }, LIMIT_API: { route: "/v1/*", per_key: "1000/day" } };
  const edge = await startEdge({ after: (stop) => after.push(stop) }, { vars });
  try {
    const [requests, gap, interval, burst] = [200, 10 * SECOND, 12 * SECOND, 5];
    let [tat, expected, admitted, same] = [0, 0, 0, 0];
    for (let n = 0; n < requests; n++) {
      const now = n * gap;
      const pass = Math.max(tat, now) + interval - now <= burst * interval;
      if (pass) tat = Math.max(tat, now) + interval;
      const { status } = await edge.get("/v1/items", { ip: "198.51.100.7", key: "slow" });
      expected += pass;
      admitted += status === 200;
      same += (status === 200) === pass;
      await edge.advance(gap);
    }
    const [row] = await edge.d1("SELECT sum(used) AS used FROM quota");
    // The key's limits are asked at the same time as the address's: a token that a refused request
    // took is the next one's.
    const hand = row.used - expected;
    return [
      line("One request every 10 s against 5/min: decided as GCRA says", `${same} of ${requests}`, `${requests}`, same === requests),
      line("counted in D1 for the day", `${row.used}`, `${admitted} admitted, and at most 1 in hand`, hand === 0 || hand === 1),
    ];
  } finally {
    for (const stop of after) await stop();
  }
}

/** Many addresses with one request each. */
export function visitors({ origin, load, addresses }) {
  return withPenstock({ LIMIT_BASE: { per_ip: "1200/min" } }, { origin, count: true }, async (runtime) => {
    const order = { urls: [await runtime.url("penstock")], head: request(), connections: 32, requests: addresses, addresses: true };
    const { statuses } = await load(order);
    const counts = await runtime.counts("penstock");
    const rows = await runtime.rows("penstock");
    const many = addresses.toLocaleString("en");
    return [
      line(`${many} addresses, one request each: admitted`, `${statuses[200] ?? 0}`, `${addresses}`, statuses[200] === addresses),
      line("rows written", `${counts.rows}`, "0", counts.rows === 0),
      line("rows left behind", `${rows}`, "0", rows === 0),
    ];
  });
}

/** Eight isolates that compete for one limit at twice its rate. */
export function crowd({ origin, load, seconds }) {
  const [isolates, rate] = [8, 400];
  return withPenstock({ LIMIT_BASE: { global: `${rate}/s` } }, { origin, isolates }, async (runtime) => {
    const urls = await Promise.all(Array.from({ length: isolates }, (_, index) => runtime.url("penstock", index)));
    const { passed } = await load({ urls, head: request(), connections: 64, rate: 2 * rate, ms: seconds * 1000 });
    // The bucket's burst is spent in the first second; what is admitted after the second is the
    // rate alone.
    const steady = passed.slice(2, seconds);
    const used = steady.reduce((sum, n) => sum + n, 0) / (steady.length * rate);
    let [sum, over] = [0, 0];
    passed.forEach((n, second) => {
      sum += n;
      over = Math.max(over, sum - (rate + (second + 1) * rate));
    });
    return [
      line(`${isolates} isolates at twice one limit of ${rate}/s: share of it that is used`, `${(100 * used).toFixed(1)} %`, "≥ 97 %", used >= 0.97),
      line("admitted beyond the limit", `${over}`, "0", over === 0),
    ];
  });
}
