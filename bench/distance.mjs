// The latency that distance costs: each call to an object and each statement to D1 takes its time,
// the same for all variants, by the held clock. A bare pass-through takes none by it, so each
// figure is what a limiter adds.
import { DISTANCE, FINE, run, together } from "./held-run.mjs";
import { variants } from "./real.mjs";
import { quantile } from "./stats.mjs";
import { CLASSES, classes } from "./traffic/classes.mjs";
import { ISOLATES } from "./traffic/mixes.mjs";

/**
 * By variant and class: the latency of the first request, p50 and p99, and how many requests these
 * are of.
 */
export async function distance({ installed, say }) {
  const events = classes({ isolates: ISOLATES });
  const all = variants().filter(installed);
  const results = await together(
    all.map((variant) => async () => {
      const { answers } = await run(variant, events, { isolates: ISOLATES, distance: DISTANCE, tick: FINE });
      const figures = Object.fromEntries(CLASSES.map((one) => [one.id, latency(one, events, answers)]));
      say(`${variant.id}: ${CLASSES.map(({ id }) => `${id} ${cell(figures[id])}`).join(", ")}`);
      return [variant.id, figures];
    }),
  );
  const names = Object.fromEntries(all.map(({ id, name }) => [id, name]));
  return { distance: DISTANCE, names, results: Object.fromEntries(results) };
}

function latency({ id, refused }, events, answers) {
  const wanted = refused ? 429 : 200;
  const times = answers.filter((answer, n) => events[n].class === id && answer?.status === wanted).map(({ ms }) => ms);
  if (times.length === 0) throw new Error(`nobody of ${id} was answered with ${wanted}`);
  const sorted = times.toSorted((a, b) => a - b);
  return { first: times[0], p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99), requests: times.length };
}

const cell = ({ first, p50, p99 }) => `${first} / ${p50} / ${p99}`;
