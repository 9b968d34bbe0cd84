// The warm speeds as Markdown: requests per second, latency, what each variant makes the platform
// do, traffic with a shape.
import { dollars } from "../prices.mjs";
import { median } from "../stats.mjs";
import { CONNECTIONS } from "../throughput.mjs";
import { short, table, whole } from "./markdown.mjs";

/** Median, lowest and highest over the rounds of one variant at some number of connections. */
export function over({ throughput }, id, connections, figure) {
  const all = throughput[id][connections].map((round) => round[figure]);
  return { median: median(all), low: Math.min(...all), high: Math.max(...all) };
}

/**
 * The median over the rounds of this variant's requests per second (or per processor second)
 * against another's in the same round.
 */
export function ratio({ throughput }, id, base, connections, figure = ({ rps }) => rps) {
  const bases = throughput[base][connections];
  return median(throughput[id][connections].map((slot, round) => figure(slot) / figure(bases[round])));
}

const perProcessorSecond = ({ cpu }) => 1e6 / cpu;

/** The variant that this one is measured against. */
export const baseOf = ({ role }) => (role === "refuse" || role === "refusing" ? "rust-429" : "rust");

function speed(results) {
  const cells = (variant) =>
    CONNECTIONS.map((connections) => {
      const { median, low, high } = over(results, variant.id, connections, "rps");
      return `${whole(median)} (${whole(low)}–${whole(high)})`;
    });
  const ratios = (variant) => CONNECTIONS.map((connections) => ratio(results, variant.id, baseOf(variant), connections).toFixed(2)).join(" / ");
  return table(
    ["", "limits enforced", ...CONNECTIONS.map((n) => `${n} connection${n > 1 ? "s" : ""}`), "of the bare Rust Worker"],
    results.variants.map((variant) => [variant.name, variant.limits, ...cells(variant), ratios(variant)]),
  );
}

function latency(results) {
  const cells = (id) =>
    CONNECTIONS.map((n) => `${over(results, id, n, "p50").median.toFixed(2)} / ${over(results, id, n, "p99").median.toFixed(1)}`);
  const cpu = (variant) => {
    if (results.throughput[variant.id][16][0].cpu === null) return ["", ""];
    const share = ratio(results, variant.id, baseOf(variant), 16, perProcessorSecond);
    return [whole(over(results, variant.id, 16, "cpu").median), share.toFixed(2)];
  };
  return table(
    ["", ...CONNECTIONS.map((n) => `${n} connection${n > 1 ? "s" : ""}`), "processor, µs per request", "requests per processor time, of the bare Rust Worker"],
    results.variants.map((variant) => [variant.name, ...cells(variant.id), ...cpu(variant)]),
  );
}

function costs(results) {
  const admitted = (id) => {
    const run = results.admitted[id];
    return run ? `${whole(run.admitted)} of ${whole(run.limit)}` : "";
  };
  return table(
    ["", "actor calls", "D1 statements", "rows written", "$ per million requests", "admitted of the limit"],
    results.variants.map(({ id, name }) => {
      const cost = results.cost[id];
      return [name, short(cost.actors), short(cost.d1), short(cost.rows), dollars(cost).toFixed(2), admitted(id)];
    }),
  );
}

function bars(results) {
  return table(
    ["traffic", "figure", "bar", ""],
    results.scenarios.map(({ what, figure, bar, holds }) => [what, figure, bar, holds ? "holds" : "**missed**"]),
  );
}

export const speedText = (results) => `One hot caller. Medians over ${results.plan.rounds} rounds of ${results.plan.ms / 1000} s for each variant in turn, with the lowest and highest round. The last
column is the median of the rounds' ratios to the bare Rust Worker at 1 / 16 / 64 connections: the one that passes everything on, or
for refusals the one that answers a constant 429, with the same headers and body.

![Requests per second](benchmarks.svg)

${speed(results)}`;

export const latencyText = (results) => `p50 / p99 in milliseconds, and the processor time that the runtime's process spends on a request at 16 connections: medians of the rounds. Of all
figures of speed, the last column depends least on what else the machine does.

${latency(results)}`;

export const costText = (results) => `Per 1,000 requests of one hot caller at full speed, and the platform's list prices for requests, calls, and rows (processor time and
storage left out). The last column: 3,000 requests at once over four isolates against a limit of 1,000 a minute for the address; a bucket's
limit is larger by what it regained meanwhile.

${costs(results)}`;

export const shapedText = bars;
