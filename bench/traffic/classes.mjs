// One caller of each class, to see what latency each has from its first request on. Pure, and
// always the same.
import { addressOf, requestOf } from "./mixes.mjs";

const every = (gap, count, from = 0) => Array.from({ length: count }, (_, n) => from + n * gap);
const NEW = 200;

/**
 * The classes: when their requests come, in milliseconds. The refused one sends more than its
 * address's limit of the example configuration, until long after the limit is met, and counts only
 * where it is refused.
 */
export const CLASSES = [
  { id: "hot", name: "hot: 50 requests a second", times: every(20, 1_000) },
  { id: "steady", name: "steady: one a second", times: every(1_000, 120) },
  { id: "slow", name: "slow: one in ten seconds", times: every(10_000, 60) },
  { id: "new", name: `first-time: ${NEW} callers with one each`, times: every(500, NEW), newcomers: true },
  { id: "refused", name: "refused: 100 a second, of which the limit allows 20", times: every(10, 3_000), refused: true },
];

/**
 * All classes' requests `{ at, isolate, request, class }` in the order of time, each class at an
 * isolate of its own, but for the last.
 */
export function classes({ isolates }) {
  const events = CLASSES.flatMap(({ id, times, newcomers }, index) =>
    times.map((at, n) => {
      const caller = newcomers ? `${id}-${n}` : id;
      const ip = addressOf(newcomers ? 65_536 + n : index);
      const isolate = newcomers ? n % isolates : index % isolates;
      // An odd beginning, so that classes do not come together.
      return { at: at + 5 * index, class: id, isolate, request: requestOf({ method: "GET", path: "/v1/items?page=2" }, ip, `key-${caller}`) };
    }),
  );
  return events.sort((a, b) => a.at - b.at);
}
