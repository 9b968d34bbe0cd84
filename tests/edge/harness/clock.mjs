// The clock of the isolate, in the test's hands. This module is evaluated before the Worker's own
// code, so every reading of `Date` comes from here: in the Worker, and in the Durable Objects of
// the same isolate.
//
// Timers stay real: a deadline is about how long a request waits, not about the calendar.
import { at } from "./start.mjs";

const RealDate = Date;
const realNow = RealDate.now.bind(RealDate);

let frozenAt = at;
let offset = 0;

/**
 * Makes the next `times` readings of the clock throw, through the code that reads it; null for
 * none.
 */
let trap = null;

function now() {
  if (trap && trap.skip-- <= 0 && trap.times-- > 0) {
    // The runtime throws the same error where the machine code of a module panics.
    throw trap.kind === "trap" ? new WebAssembly.RuntimeError("unreachable") : new Error("thrown to order");
  }
  return frozenAt ?? realNow() + offset;
}

export const clock = {
  now,
  /** Stands still at `ms` (Unix milliseconds). */
  freeze(ms) {
    frozenAt = ms;
  },
  /**
   * Makes the readings after the next `skip` throw, `times` times: a "trap" of the machine, or an
   * "error" of JavaScript.
   */
  trip(kind, { skip = 0, times = 1 } = {}) {
    trap = { kind, skip, times };
  },
  /** Runs on from `ms`, at the real speed. */
  run(ms) {
    frozenAt = null;
    offset = ms - realNow();
  },
};

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) => Reflect.construct(target, args.length > 0 ? args : [now()], newTarget),
  apply: () => new RealDate(now()).toString(),
  get: (target, property) => (property === "now" ? now : Reflect.get(target, property)),
});
