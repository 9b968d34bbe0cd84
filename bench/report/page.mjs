// The page of the benchmarks, put together of its sections. A section that was not measured stays
// as it stands.
import os from "node:os";
import { coldText, distanceText } from "./distance.mjs";
import { realText } from "./real.mjs";
import { costText, latencyText, shapedText, speedText } from "./speed.mjs";

const SECTIONS = [
  ["Real traffic", ({ real }) => real && realText(real)],
  ["Distance", ({ distance }) => distance && distanceText(distance)],
  ["A cold isolate", ({ cold }) => cold && coldText(cold)],
  ["Requests per second", (results) => results.throughput && speedText(results)],
  ["Latency and processor time", (results) => results.throughput && latencyText(results)],
  ["What it costs", (results) => results.cost && costText(results)],
  ["Traffic with a shape", (results) => results.scenarios && shapedText(results)],
  ["One decision, natively", ({ decision }) => decision && `\`\`\`text\n${decision.trim()}\n\`\`\``],
];

/** The sections of a page by their headings. */
export function sectionsOf(page) {
  return new Map(
    page
      .split(/^## /m)
      .slice(1)
      .map((part) => [part.slice(0, part.indexOf("\n")), part.slice(part.indexOf("\n")).trim()]),
  );
}

/** The page with `results`; its sections of which there are none are those of the page `old`. */
export function page(results, old) {
  const before = sectionsOf(old);
  const [cpu] = os.cpus();
  const sections = SECTIONS.flatMap(([heading, make]) => {
    const text = make(results) || before.get(heading);
    return text ? [`## ${heading}\n\n${text}\n`] : [];
  });
  return `# Benchmarks

This page answers: what do requests, latency and platform calls cost with Penstock, beside other limiters?

Written by \`make bench\`. ${results.quick ? "**This was a quick run: too short to quote.** " : ""}${os.cpus().length} × ${cpu.model.trim()}, ${os.type()} ${os.release().split("-")[0]}, workerd ${results.workerd}; callers, origin and runtime
share the machine. Calls, rows and the milliseconds of distance hardly depend on the machine; speeds and cold isolates do.

${sections.join("\n")}
## How it is measured

${HOW}${results.missing.length > 0 ? `- Not compared, since the packages are not installed: ${results.missing.map(({ name }) => name).join(", ")}.\n` : ""}`;
}

const HOW = `- Real traffic and distance run on the real runtime with real objects and databases, but on a clock that stands still until nothing more can happen, and then
  goes on to the next request, timer or alarm (\`bench/held/\`). So half an hour takes as long as the work in it. An object that nobody has called for ten
  seconds has forgotten what it had in memory, as on the platform. The origin answers at once. The callers are seeded (\`bench/traffic/\`): all limiters get the same requests.
- The first 50 seconds and the distances are stepped by 5 ms, the half hour by 50 ms, with nothing taking any time.
- \`make bench LOG=access.log\` counts what the traffic of an access log costs with the configuration in \`wrangler.toml\`.
- In all else, Workers run in one workerd, started by miniflare, each on a socket of its own with nothing in front of it (\`wrangler dev\` would add a
  proxy and a log line to every request). They take turns; nothing else runs in it.
- The callers are one process, the origin another: a socket that answers every request with the same 150 bytes and parses nothing. All
  variants that pass requests on have the same origin, over the runtime's own \`fetch\`.
- The callers keep one request under way on each connection. So at 1 connection the latency bounds the rate, at 64 the runtime's one thread does.
- Storage is in memory where the system has such a file system. On the platform each write waits for a disk and, in D1, for the primary,
  so those who write with each request do better in warm speeds than there.
- Calls to Durable Objects go no distance in warm speeds. On the platform each one is a journey, so those who call with each request do better than there.
- Calls, statements and rows are counted in runs of their own, inside the objects and at the database, refills after the answer included.
- The \`ratelimits\` binding is emulated by miniflare with a Durable Object and SQLite. On the platform it is a counter in the same data centre that is
  neither billed nor shared between data centres, and is documented as eventually consistent: its speed here says nothing about there, its
  price is right, and its exactness is the emulation's.
- Each peer is written as its public description has it, and enforces one limit, for the address. Penstock enforces four in the same request.
`;
