// Real traffic as Markdown and as a chart.
import { MIXES } from "../traffic/mixes.mjs";
import { short, table, whole } from "./markdown.mjs";
import { barChart, COLOURS } from "./svg.mjs";

const WAYS = { home: "at home", roaming: "roaming" };

const money = ({ dollars }) => dollars.toFixed(2);
const counts = ({ actors, d1, rows }) => [actors, d1, rows].map(short);
const others = ({ statuses, requests }) => requests - (statuses[200] ?? 0);

/** Penstock: a row for each mix and way, the first fifty seconds beside half an hour. */
function penstock({ results }) {
  const rows = MIXES.flatMap(({ id, name }) =>
    Object.entries(WAYS).flatMap(([way, said]) => {
      const { first, long } = results.penstock[id]?.[way] ?? {};
      if (!first) return [];
      const rest = long ? [whole(long.requests), ...counts(long), `**${money(long)}**`] : ["", "", "", "", ""];
      return [[`${name}; ${said}`, whole(first.requests), ...counts(first), `**${money(first)}**`, ...rest]];
    }),
  );
  const columns = ["requests", "calls", "D1", "rows", "$"];
  return table(["", ...columns.map((name) => `${name}, 50 s`), ...columns.map((name) => `${name}, half an hour`)], rows);
}

const cell = (figures) => (figures ? `${money(figures)} (${figures.p50} / ${figures.p99})` : "");

/** All limiters beside each other in the first fifty seconds. */
function beside({ names, results }, way) {
  const mixes = MIXES.filter(({ id }) => Object.keys(names).some((variant) => results[variant][id]?.[way]?.first));
  const rows = Object.entries(names).map(([variant, { name }]) => [name, ...mixes.map(({ id }) => cell(results[variant][id]?.[way]?.first))]);
  return table(["", ...mixes.map(({ id }) => id)], rows);
}

/** Each peer's counts, in the mix where it has most of them. */
function peers({ names, results }) {
  const rows = Object.entries(names).flatMap(([variant, { name }]) => {
    const all = Object.values(results[variant]).flatMap((ways) => Object.values(ways).map(({ first }) => first)).filter(Boolean);
    if (all.length === 0) return [];
    const span = (figure) => {
      const values = all.map((figures) => figures[figure]);
      const [low, high] = [Math.min(...values), Math.max(...values)];
      return short(low) === short(high) ? short(low) : `${short(low)}–${short(high)}`;
    };
    return [[name, ...["actors", "d1", "rows"].map(span)]];
  });
  return table(["", "actor calls", "D1 statements", "rows written"], rows);
}

/** How many requests were not passed on; nothing where all were. */
function refused({ names, results }) {
  const found = Object.keys(names).flatMap((variant) =>
    Object.entries(results[variant]).flatMap(([mix, ways]) =>
      Object.entries(ways).flatMap(([way, spans]) =>
        Object.entries(spans).flatMap(([span, figures]) =>
          others(figures) > 0 ? [`${variant}, ${mix}, ${WAYS[way]}, ${span}: ${others(figures)} of ${whole(figures.requests)}`] : [],
        ),
      ),
    ),
  );
  return found.length === 0 ? "All requests were passed on, by all of them." : `Requests that were not passed on: ${found.join("; ")}.`;
}

export const realText = (results) => `Many callers, each far below a generous limit: what most traffic is. Penstock has the example configuration of
\`wrangler.toml\` (address, everyone together, key, and the key's day), the others its limit for the address alone. Four isolates; each caller is *at home*
at one of them, or *roams*: each request goes to any. In the first 50 seconds each caller is new; half an hour shows what stays. Calls include refills,
returns and alarms. Dollars are the list price of a million requests; a bare Worker costs 0.30.

![What a million requests cost](benchmarks-real.svg)

Penstock, per 1,000 requests:

${penstock(results)}

All limiters in the first 50 seconds: dollars per million, and in brackets p50 / p99 of what each adds to the latency, in milliseconds, where a call to an
object takes 20 ms and a statement to D1 30 ms. Callers at home:

${beside(results, "home")}

Callers roam:

${beside(results, "roaming")}

The same per 1,000 requests, the lowest and the highest of the mixes:

${peers(results)}

${refused(results)}`;

/**
 * Dollars per million of each mix: Penstock after half an hour (or 50 seconds, if that is all there
 * is), and an object in memory.
 */
export function realChart({ results, names }) {
  const groups = MIXES.map(({ id, name }) => {
    const penstock = results.penstock[id];
    const bar = (way, span, colour) => {
      const figures = penstock?.[way]?.[span];
      const when = span === "first" ? "first 50 s" : "half an hour";
      return figures && { name: `Penstock, ${WAYS[way]}, ${when}`, value: figures.dollars, label: `$${money(figures)}`, colour };
    };
    const peer = (variant) => {
      const figures = results[variant]?.[id]?.home?.first;
      return figures && { name: names[variant].name, value: figures.dollars, label: `$${money(figures)}`, colour: COLOURS.peer };
    };
    const own = [["home", COLOURS.penstock], ["roaming", COLOURS.roaming]].flatMap(([way, colour]) => ["first", "long"].map((span) => bar(way, span, colour)));
    return { title: name, bars: [...own, peer("object-memory"), peer("d1")].filter(Boolean) };
  });
  return barChart({
    title: "A million requests of real traffic, in dollars at list prices",
    subtitle: "Penstock with the example configuration (four limits); the others with one limit for the address",
    groups: groups.filter(({ bars }) => bars.length > 0),
    most: 2.2,
    mark: { value: 0.3, label: "a bare Worker" },
  });
}
