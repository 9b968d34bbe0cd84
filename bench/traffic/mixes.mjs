// The mixes of real traffic: lists of requests `{ at, caller, isolate, request }` in the order of
// time. Pure, and the same for the same seed.
import { Random } from "../../tests/edge/harness/random.mjs";
import { browser, crawler, heavy, heavyTailed, slow, SPREAD, steady, WITH_KEY } from "./callers.mjs";

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;

/** Among how many isolates the callers are spread. */
export const ISOLATES = 4;

const SEED = 20_310_115;

/** The kinds of a caller of the mix, by how many of 100 there are. */
const KINDS = [[browser, 62], [slow, 25], [steady, 11], [heavy, 2]];

/** Callers of one kind, each there from the start to the end. */
const all = (kind, count) => (random) => Array.from({ length: count }, () => ({ kind, from: random.below(SPREAD.get(kind)), requests: Infinity }));

/** Callers of all kinds, who come when they come, and a crawler. */
function everybody(random, ms) {
  const kindOf = (n) => KINDS.find(([, share]) => (n -= share) < 0)[0];
  const callers = Array.from({ length: Math.ceil((1_600 * ms) / (30 * MINUTE)) }, () => {
    const kind = kindOf(random.below(100));
    return { kind, from: random.below(ms), requests: heavyTailed(random, kind === heavy ? 200 : 4, 20_000) };
  });
  return [...callers, { kind: crawler, from: 0, requests: Infinity }];
}

/** The mixes that `make bench` measures. */
export const MIXES = [
  { id: "browsers", name: "100 browsers, a page of 12 requests each 10–20 s", callers: all(browser, 100) },
  { id: "slow", name: "80 API clients, a request each 3–8 s", callers: all(slow, 80) },
  { id: "steady", name: "20 API clients, a request each second", callers: all(steady, 20) },
  { id: "heavy", name: "5 API clients, 20 requests a second each", callers: all(heavy, 5) },
  { id: "crawler", name: "A crawler, two pages a second", callers: all(crawler, 1) },
  { id: "mix", name: "All of these, most callers with few requests and a few with most", callers: everybody },
];

/** The address of the n-th caller. */
export const addressOf = (n) => `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;

/** The request of a caller. */
export function requestOf({ method, path }, ip, key) {
  const headers = { "cf-connecting-ip": ip, "user-agent": "benchmark", accept: "application/json", ...(key && { "x-api-key": key }) };
  return [method, `https://api.example.com${path}`, headers];
}

/**
 * The requests of a mix in its first `ms` milliseconds. A caller that is `roaming` sends each
 * request to any isolate, others all to one.
 */
export function traffic({ callers }, { ms, roaming, seed = SEED, isolates = ISOLATES }) {
  const events = callers(new Random(seed), ms).flatMap(({ kind, from, requests }, caller) => {
    // A generator of its own for each: that one roams, or stays longer, changes nothing for the
    // others.
    const own = new Random(seed + 7_919 * (caller + 1));
    const ways = new Random(seed + 104_729 * (caller + 1));
    const key = WITH_KEY.has(kind) ? `key-${caller}` : undefined;
    const list = [];
    for (const one of kind(own)) {
      const at = from + one.at;
      if (at >= ms || list.length >= requests) break;
      list.push({ at, caller, isolate: roaming ? ways.below(isolates) : caller % isolates, request: requestOf(one, addressOf(caller), key) });
    }
    return list;
  });
  return events.sort((a, b) => a.at - b.at || a.caller - b.caller);
}
