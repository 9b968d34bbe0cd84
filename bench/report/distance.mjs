// Distance and cold isolates as Markdown and as a chart.
import { median } from "../stats.mjs";
import { CLASSES } from "../traffic/classes.mjs";
import { table } from "./markdown.mjs";
import { barChart, COLOURS } from "./svg.mjs";

const cell = ({ first, p50, p99 }) => `${first} / ${p50} / ${p99}`;

export const distanceText = ({ distance, names, results }) => `Milliseconds that a limiter adds where each call to an object takes ${distance.actor} ms and each statement to D1 ${distance.d1} ms, there and back, the same for
all: a caller's first request / p50 / p99. A bare pass-through adds 0. Time stands still but for these journeys, so the figures are those of the journeys
alone, whatever the machine. Penstock has the example configuration, the others its limit for the address.

![Latency by class of caller](benchmarks-distance.svg)

${table(["", ...CLASSES.map(({ name }) => name)], Object.entries(names).map(([id, name]) => [name, ...CLASSES.map((one) => cell(results[id][one.id]))]))}`;

export function distanceChart({ distance, names, results }) {
  const groups = CLASSES.map(({ id, name }) => ({
    title: name,
    bars: Object.entries(names).map(([variant, name]) => {
      const { p50, p99 } = results[variant][id];
      return { name, value: p99, label: `${p50} / ${p99}`, colour: variant === "penstock" ? COLOURS.penstock : COLOURS.peer };
    }),
  }));
  const most = Math.max(...groups.flatMap(({ bars }) => bars.map(({ value }) => value)), 1);
  return barChart({
    title: "Milliseconds that a limiter adds: the bar is p99, the text p50 / p99",
    subtitle: `a call to an object takes ${distance.actor} ms, a statement to D1 ${distance.d1} ms, there and back`,
    groups,
    most,
  });
}

export function coldText({ rounds, names, results }) {
  const one = (list) => {
    const digits = median(list) < 2 ? 2 : 1;
    return [median(list), Math.min(...list), Math.max(...list)].map((ms) => ms.toFixed(digits));
  };
  const rows = Object.entries(names).map(([id, name]) => {
    const [middle, low, high] = one(results[id].first);
    return [name, `${middle} (${low}–${high})`, median(results[id].warm).toFixed(2)];
  });
  return `The first request of a new isolate: medians of ${rounds} processes for each of these, with the lowest and highest. A process starts, another Worker in it answers
fifty requests, and then this one gets its first. The isolate is loaded by then; its module begins, its code runs for the first time, and an object is made
where there is one. No distance is in it.

${table(["", "first request, ms", "later ones, p50, ms"], rows)}`;
}
