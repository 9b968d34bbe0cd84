// The clock and the timers of an isolate, in the driver's hands: half an hour takes as long as the
// work in it. Evaluated before the Worker's own code, so that every reading of `Date` and every
// timer of it comes from here.
import { START } from "./clock-start.mjs";

const RealDate = Date;
export const realTimeout = globalThis.setTimeout.bind(globalThis);
export const endRealTimeout = globalThis.clearTimeout.bind(globalThis);

let now = START;
let last = 0;
const timers = new Map();

export const clock = {
  now: () => now,

  /** When the next timer is due, or null. */
  next() {
    let next = null;
    for (const { at } of timers.values()) if (next === null || at < next) next = at;
    return next;
  },

  /** Sets the clock to `at`, and wakes nothing. */
  set(at) {
    now = at;
  },

  /** Moves the clock on to `at`, and wakes what is due by then, in the order in which it is due. */
  advance(at) {
    now = at;
    const due = [...timers].filter(([, timer]) => timer.at <= at).sort(([a, one], [b, other]) => one.at - other.at || a - b);
    for (const [id, { wake }] of due) if (timers.delete(id)) wake();
  },

  /** Resolves after `ms`; `onWake` is called in the same turn as the clock moves on. */
  pause(ms, onWake = () => {}) {
    return new Promise((resolve) => {
      add(ms, () => {
        onWake();
        resolve();
      });
    });
  },
};

function add(ms, wake) {
  timers.set(++last, { at: now + Math.max(0, Number(ms) || 0), wake });
  return last;
}

globalThis.setTimeout = (callback, ms, ...args) => {
  // The runtime resumes a promise in the context of the request that made it, wherever it was
  // resolved.
  let wake;
  new Promise((resolve) => (wake = resolve)).then(() => callback(...args));
  return add(ms, wake);
};
globalThis.clearTimeout = (id) => void timers.delete(id);

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) => Reflect.construct(target, args.length > 0 ? args : [now], newTarget),
  apply: () => new RealDate(now).toString(),
  get: (target, property) => (property === "now" ? clock.now : Reflect.get(target, property)),
});

// Nothing is measured of the origin: it answers at once.
const BODY = JSON.stringify({ items: [1, 2, 3], page: 2 });
globalThis.fetch = () => Promise.resolve(new Response(BODY, { headers: { "content-type": "application/json", "cache-control": "private" } }));
