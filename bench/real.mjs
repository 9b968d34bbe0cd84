// Real traffic: mixes of callers that each are far below a generous limit, on the held clock, with
// the example configuration.
import { addressLimit, exampleVars } from "./config.mjs";
import { COARSE, DISTANCE, FINE, NEAR, run, summary, together } from "./held-run.mjs";
import { dollars, perThousand } from "./prices.mjs";
import { ISOLATES, MINUTE, MIXES, SECOND, traffic } from "./traffic/mixes.mjs";
import { limiters } from "./variants.mjs";

/** How long each caller is new. */
export const FIRST = 50 * SECOND;
export const LONG = 30 * MINUTE;

export const WAYS = [
  { id: "home", name: "each caller at one isolate", roaming: false },
  { id: "roaming", name: "callers roam over four isolates", roaming: true },
];

/** Penstock as the example configuration has it, and the peers with its limit for each address. */
export function variants(vars = exampleVars()) {
  return limiters({ penstock: vars, peers: addressLimit(vars) });
}

/** The figures of some `answers` and `counts`. */
export function figures(answers, counts) {
  const per = perThousand(counts, answers.length);
  return { ...summary(answers), ...per, dollars: dollars(per) };
}

/** A variant in the first `ms` of a mix: each call and statement takes its time. */
async function first(variant, mix, { roaming }, ms = FIRST) {
  const events = traffic(mix, { ms, roaming });
  const { answers, counts } = await run(variant, events, { isolates: ISOLATES, distance: DISTANCE, tick: FINE });
  return figures(answers, counts);
}

/** A variant in half an hour of a mix: counts alone, so nothing takes any time. */
async function long(variant, mix, { roaming }, ms = LONG) {
  const events = traffic(mix, { ms, roaming });
  const { answers, counts } = await run(variant, events, { isolates: ISOLATES, distance: NEAR, tick: COARSE });
  const { p50, p99, ...rest } = figures(answers, counts);
  return rest;
}

const SPANS = { first, long };

/** The spans in which a variant is measured. */
function spans({ id }, mix, { roaming }, quick) {
  if (id === "penstock") return quick ? ["first"] : ["first", "long"];
  return quick && (roaming || !["browsers", "slow"].includes(mix.id)) ? [] : ["first"];
}

/**
 * The figures by variant, mix and way: `first` of all variants, and `long` of Penstock. A quick run
 * has the peers in two mixes alone, and nothing long.
 */
export async function real({ quick, installed, say }) {
  const all = variants().filter(installed);
  const results = Object.fromEntries(all.map(({ id }) => [id, {}]));
  const jobs = MIXES.flatMap((mix) =>
    WAYS.flatMap((way) => all.flatMap((variant) => spans(variant, mix, way, quick).map((span) => ({ span, variant, mix, way })))),
  );
  const work = async ({ span, variant, mix, way }) => {
    const begun = performance.now();
    const done = await SPANS[span](variant, mix, way);
    ((results[variant.id][mix.id] ??= {})[way.id] ??= {})[span] = done;
    const counts = [done.actors, done.d1, done.rows].map((n) => n.toFixed(0)).join(" / ");
    const seconds = ((performance.now() - begun) / 1000).toFixed(0);
    const what = `${variant.id}, ${mix.id}, ${way.id}, ${span}: ${done.requests} requests ${JSON.stringify(done.statuses)}`;
    say(`${what}, ${counts} per 1,000, $${done.dollars.toFixed(2)} (${seconds} s)`);
  };
  // The long ones first, so that the short ones fill up the end.
  jobs.sort((a, b) => (a.span === "long" ? 0 : 1) - (b.span === "long" ? 0 : 1));
  await together(jobs.map((job) => () => work(job)));
  const names = Object.fromEntries(all.map(({ id, name, limits }) => [id, { name, limits }]));
  return { names, results };
}
