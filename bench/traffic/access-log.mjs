// Reads access logs in the combined form of nginx and Apache (or the common one, which is the same
// without its end): of each line the time, the address, the method and the path. Pure.
import { isIP } from "node:net";
import { ISOLATES, requestOf } from "./mixes.mjs";

/**
 * Address, time and request line. A quote in the request line is written with a backslash before
 * it.
 */
const LINE = /^(\S+) \S+ .*?\[(\d{2})\/([A-Z][a-z]{2})\/(\d{4}):(\d{2}:\d{2}:\d{2}) ([+-]\d{2})(\d{2})\] "((?:[^"\\]|\\.)*)"/;
const REQUEST = /^([A-Z]+) (\S+)(?: HTTP\/[\d.]+)?$/;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** Methods that no Worker is ever asked for by `fetch`. */
const REFUSED = new Set(["CONNECT", "TRACE", "TRACK"]);

/** One line as `{ at, ip, method, path }`, `at` in milliseconds; null for a bad one. */
export function parseLine(line) {
  const [, ip, day, month, year, time, hours, minutes, text] = LINE.exec(line) ?? [];
  const [, method, target] = REQUEST.exec(text ?? "") ?? [];
  if (!method || !isIP(ip) || REFUSED.has(method)) return null;
  const number = String(MONTHS.indexOf(month) + 1).padStart(2, "0");
  const at = Date.parse(`${year}-${number}-${day}T${time}${hours}:${minutes}`);
  const path = pathOf(target);
  return Number.isNaN(at) || path === null ? null : { at, ip, method, path };
}

/** The path and query of a request line's target; null where it has none. */
function pathOf(target) {
  if (!target.startsWith("/") && !/^https?:\/\//i.test(target)) return null;
  try {
    const { pathname, search } = new URL(target.startsWith("/") ? `https://api.example.com${target}` : target);
    return pathname + search;
  } catch {
    return null;
  }
}

/**
 * The requests of a log as `{ at, isolate, request }` in the order of time, from 0 on. A log says
 * only the second: its requests are spread evenly over it. The n-th address is at the isolate `n %
 * ISOLATES`, or each request at the next one if callers are roaming.
 */
export function parseLog(text) {
  const lines = text.split(/\r?\n/).filter((line) => line.trim());
  const parsed = lines.map(parseLine);
  const good = parsed.filter(Boolean).sort((a, b) => a.at - b.at);
  const bad = lines.filter((_, n) => parsed[n] === null);
  return { lines: lines.length, bad: bad.length, firstBad: bad[0], requests: spread(good) };
}

function spread(requests) {
  const start = requests[0]?.at ?? 0;
  const perSecond = Map.groupBy(requests, ({ at }) => at);
  return [...perSecond].flatMap(([at, all]) => all.map((one, n) => ({ ...one, at: at - start + Math.floor((n * 1_000) / all.length) })));
}

/** The requests for a run on the held clock. */
export function replay(requests, { roaming, isolates = ISOLATES }) {
  const callers = new Map();
  return requests.map(({ at, ip, ...one }, n) => {
    if (!callers.has(ip)) callers.set(ip, callers.size);
    return { at, isolate: (roaming ? n : callers.get(ip)) % isolates, request: requestOf(one, ip) };
  });
}
