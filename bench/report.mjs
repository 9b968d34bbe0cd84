// The results as Markdown.
import os from "node:os";
import { median } from "./stats.mjs";
import { CONNECTIONS } from "./throughput.mjs";

/** Dollars per million: a Worker's request, a Durable Object's request, a row written, a row read. */
const PRICE = { request: 0.3, actor: 0.15, row: 1, rowRead: 0.001 };

/** Median, lowest and highest over the rounds of one variant at some number of connections. */
export function over({ throughput }, id, connections, figure) {
  const all = throughput[id][connections].map((round) => round[figure]);
  return { median: median(all), low: Math.min(...all), high: Math.max(...all) };
}

/** The median over the rounds of this variant's requests per second (or per processor second) against another's in the same round. */
export function ratio({ throughput }, id, base, connections, figure = ({ rps }) => rps) {
  const bases = throughput[base][connections];
  return median(throughput[id][connections].map((slot, round) => figure(slot) / figure(bases[round])));
}

const perProcessorSecond = ({ cpu }) => 1e6 / cpu;

/** List price of a million requests. */
export function dollars({ actors, rows, rowsRead }) {
  return PRICE.request + (PRICE.actor * actors + PRICE.row * rows + PRICE.rowRead * rowsRead) / 1000;
}

/** What a variant is measured against. */
export const baseOf = ({ role }) => (role === "refuse" || role === "refusing" ? "rust-429" : "rust");

const whole = (n) => Math.round(n).toLocaleString("en");
const short = (n) => (n === 0 ? "0" : n < 10 ? n.toFixed(1) : whole(n));
const table = (head, rows) => [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

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

export function report(results) {
  const { plan, missing } = results;
  const [cpu] = os.cpus();
  return `# Benchmarks

This page answers: what do requests, latency and platform calls cost with Penstock, beside other limiters?

Written by \`make bench\`, which measures all of this in one run. ${results.quick ? "**This was a quick run: too short to quote.** " : ""}${os.cpus().length} × ${cpu.model.trim()},
${os.type()} ${os.release().split("-")[0]}, workerd ${results.workerd}; callers, origin and runtime share the machine.

![Requests per second](benchmarks.svg)

## Requests per second

One hot caller. Medians over ${plan.rounds} rounds of ${plan.ms / 1000} s for each variant in turn, with the lowest and highest round. The last
column is the median of the rounds' ratios to the bare Rust Worker at 1 / 16 / 64 connections: the one that passes everything on, or
for refusals the one that answers a constant 429, with the same headers and body.

${speed(results)}

## Latency and processor time

p50 / p99 in milliseconds, and the processor time that the runtime's process spends on a request at 16 connections: medians of the rounds. Of all
figures of speed, the last column depends least on what else the machine does.

${latency(results)}

## What it costs

Per 1,000 requests of one hot caller at full speed, and the platform's list prices for requests, calls, and rows (processor time and
storage left out). The last column: 3,000 requests at once over four isolates against a limit of 1,000 a minute for the address; a bucket's
limit is larger by what it regained meanwhile.

${costs(results)}

## Traffic with a shape

${bars(results)}
${results.decision ? `\n## One decision, natively\n\n\`\`\`text\n${results.decision.trim()}\n\`\`\`\n` : ""}
## How it is measured

- All Workers run in one workerd, started by miniflare, each on a socket of its own with nothing in front of it (\`wrangler dev\` would add a
  proxy and a log line to every request). They take turns; nothing else runs in it.
- The callers are one process, the origin another: a socket that answers every request with the same 150 bytes and parses nothing. All
  variants that pass requests on have the same origin, over the runtime's own \`fetch\`.
- The callers keep one request under way on each connection. So at 1 connection the latency bounds the rate, at 64 the runtime's one thread does.
- Storage is in memory where the system has such a file system. On the platform each write waits for a disk and, in D1, for the primary,
  so those who write with each request do better here than there.
- Calls to Durable Objects go no distance here. On the platform each one is a journey, so those who call with each request do better here than there.
- Calls, statements and rows are counted in a run of their own, inside the objects and at the database, refills after the answer included.
- The \`ratelimits\` binding is emulated by miniflare with a Durable Object and SQLite. On the platform it is a counter in the same data centre that is
  neither billed nor shared between data centres, and is documented as eventually consistent: its speed here says nothing about there, its
  price is right, and its exactness is the emulation's.
- Each peer is written as its public description has it, and enforces one limit, for the address. Penstock enforces four in the same request.
${missing.length > 0 ? `- Not compared, since the packages are not installed: ${missing.map(({ name }) => name).join(", ")}.\n` : ""}`;
}
