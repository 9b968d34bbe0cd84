// The limits whose stored state is pinned, the requests that were counted, and the requests that
// must still pass.
import { count, inTurn } from "../harness/index.mjs";

/** The caller whose requests are counted. */
export const who = { ip: "203.0.113.7", key: "k" };

/** A caller that was never seen, for the limits that everyone shares. */
export const other = { ip: "203.0.113.8", key: "other" };

/** The configuration under which the state was stored. */
export const VARS = {
  BUDGET: "90000/day",
  LIMIT_IP: { route: "/ip", per_ip: "5/h" },
  LIMIT_KEY: { route: "/key", per_key: ["100/s", "5/h"] },
  LIMIT_ALL: { route: "/all", global: "5/h" },
  LIMIT_ALL_TWO: { route: "/all-two", global: ["50/s", "5/2h"] },
  LIMIT_WARM: { route: "/warm", global: "60/h burst 30", warmup: "10min" },
  LIMIT_DAY: { route: "/day", per_key: "5/day" },
  LIMIT_DAY_TWO: { route: "/day-two", per_ip: ["100/day", "5/day Asia/Shanghai"] },
  LIMIT_ALL_DAY: { route: "/all-day", global: ["50/s", "5/day"] },
  LIMIT_HOT: { route: "/hot", per_key: "600/h" },
};

/** Paths whose limits admit five requests, of which four were counted. */
export const FIVE = ["/ip", "/key", "/all", "/all-two", "/day", "/day-two", "/all-day"];

/** Requests to /hot that were counted, fast enough that the isolate held tokens ahead. */
export const HOT = 200;

/** Requests to /warm that pass in the first moment of its ramp. */
export const WARM = 3;

/** Has the requests counted whose state is pinned. */
export async function spend(edge) {
  const passed = {};
  for (const path of FIVE) passed[path] = count(await inTurn(4, () => edge.get(path, who)), 200);
  passed["/warm"] = count(await inTurn(WARM + 1, () => edge.get("/warm", who)), 200);
  passed["/hot"] = 0;
  for (let sent = 0; sent < HOT; sent += 4) {
    passed["/hot"] += count(await Promise.all([0, 1, 2, 3].map(() => edge.get("/hot", who))), 200);
    await edge.advance(10);
  }
  return passed;
}
