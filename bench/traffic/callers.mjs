// How callers of each kind behave: endless lists of `{ at, method, path }`, in milliseconds from
// their first request. Pure, and the same for the same seed.

/** A whole number in `from` … `to`. */
const between = (random, from, to) => from + random.below(to - from + 1);

/** Pages of twelve requests: the page, and what it needs within the next second. */
export function* browser(random) {
  for (let at = 0; ; at += between(random, 10_000, 20_000)) {
    const page = between(random, 1, 500);
    yield { at, method: "GET", path: `/pages/${page}` };
    const rest = Array.from({ length: 11 }, () => at + between(random, 80, 1_000)).sort((a, b) => a - b);
    for (const [index, at] of rest.entries()) yield { at, method: "GET", path: `/assets/${page % 7}/${index}.js` };
  }
}

/** One request of the API every `from` to `to` milliseconds. */
const client = (from, to) =>
  function* (random) {
    for (let at = 0; ; at += between(random, from, to)) yield { at, method: "GET", path: `/v1/items?page=${between(random, 1, 50)}` };
  };

export const slow = client(3_000, 8_000);
export const steady = client(800, 1_200);
export const heavy = client(25, 75);

/** Page after page, two a second, without a key. */
export function* crawler(random) {
  for (let n = 0, at = 0; ; n++, at += between(random, 300, 700)) yield { at, method: "GET", path: `/pages/${n}` };
}

/** Which kinds send a key. */
export const WITH_KEY = new Set([slow, steady, heavy]);

/**
 * How long a caller of a kind may wait until its first request, so that not all begin at once, in
 * milliseconds.
 */
export const SPREAD = new Map([[browser, 15_000], [slow, 5_500], [steady, 1_000], [heavy, 50], [crawler, 500]]);

/**
 * A number of requests with a heavy tail (Pareto with exponent 1.1, from `least`): most callers
 * send few, a few send most.
 */
export function heavyTailed(random, least, most) {
  const u = (1 + random.below(1_000_000)) / 1_000_001;
  return Math.min(most, Math.floor(least / u ** (1 / 1.1)));
}
