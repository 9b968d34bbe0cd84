// `make overload`: ten times what a cap allows, for a minute: whether the origin is kept busy, whether those who are let in feel
// anything of the crowd, and how soon the others are told. SECONDS is for how long.
import * as processes from "./processes.mjs";
import { start } from "./runtime.mjs";
import { request, VARIANTS } from "./variants.mjs";

const ISOLATES = 2;

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Offers half of what a cap allows for `calm` seconds, and then ten times what it allows for `seconds`; what came of it. The cap is
 * `cap` at once, each of them for `takes` milliseconds.
 */
export async function overload({ seconds, calm, cap = 20, takes = 400 }) {
  const allowed = (cap * 1000) / takes;
  const origin = await processes.slowOrigin(takes);
  const load = processes.callers();
  const penstock = VARIANTS.find(({ id }) => id === "penstock");
  const vars = { LIMIT_BASE: { in_flight: String(cap) } };
  const runtime = await start([{ ...penstock, worker: { ...penstock.worker, vars } }], { origin: origin.url, isolates: ISOLATES });
  try {
    const urls = await Promise.all(Array.from({ length: ISOLATES }, (_, index) => runtime.url("penstock", index)));
    const order = { urls, head: request(), connections: 160, addresses: true };
    // What has to be compiled is, before anything is measured.
    await load({ ...order, rate: allowed / 2, ms: 2_000 });
    await origin.counted();
    const before = await load({ ...order, rate: allowed / 2, ms: calm * 1000 });
    await sleep(1_500);
    await origin.counted();
    const crowd = load({ ...order, rate: allowed * 10, ms: seconds * 1000 });
    // The first second is for isolates to find their shares.
    await sleep(1_000);
    await origin.counted();
    const begun = performance.now();
    await sleep((seconds - 2) * 1000);
    const { answered, most, ms } = await origin.counted();
    const elapsed = performance.now() - begun;
    const during = await crowd;
    return {
      cap,
      most,
      offered: during.requests / during.seconds / allowed,
      goodput: answered / ((cap * elapsed) / (ms / answered)),
      calm: before.byStatus[200],
      admitted: during.byStatus[200],
      refused: during.byStatus[503],
      statuses: during.statuses,
      unrefused: (before.statuses[200] ?? 0) / before.requests,
    };
  } finally {
    await runtime.stop();
    processes.stop();
  }
}

/** The figures, each against its bar. */
export function lines({ cap, most, offered, goodput, calm, admitted, refused }) {
  const slower = admitted.p99 / calm.p99;
  return [
    [`at the origin at once, cap ${cap}`, String(most), `≤ ${cap}`, most <= cap],
    ["offered, of what the cap allows", `${offered.toFixed(1)} times`, "10 times", offered >= 9],
    ["goodput at the origin, of what the cap allows", `${(100 * goodput).toFixed(1)} %`, "≥ 95 %", goodput >= 0.95],
    ["p99 of those let in, of the unloaded", `${admitted.p99.toFixed(0)} ms, ${slower.toFixed(2)} of ${calm.p99.toFixed(0)} ms`, "≤ 1.3", slower <= 1.3],
    ["p50 of the refused", `${refused.p50.toFixed(1)} ms`, "< 10 ms", refused.p50 < 10],
  ];
}

if (import.meta.main ?? process.argv[1] === import.meta.filename) {
  const seconds = Number(process.env.SECONDS ?? 60);
  const figures = lines(await overload({ seconds, calm: Math.min(20, seconds) }));
  for (const [what, figure, bar, holds] of figures) console.log(`  ${holds ? "holds " : "MISSED"} ${what}: ${figure} (bar: ${bar})`);
  process.exitCode = figures.every(([, , , holds]) => holds) ? 0 : 1;
}
