// Quotas: what D1 counts, and idle tokens on their way back to it.
import { setTimeout as sleep } from "node:timers/promises";
import { SECOND } from "./edge.mjs";

/** The quota tokens that D1 counts, of all callers. */
export const usedQuota = async (edge) => (await edge.d1("SELECT coalesce(sum(used), 0) AS used FROM quota"))[0].used;

/** Lets idle quota tokens go back: from the isolates to their actors, and from these to D1. */
export async function returnIdleQuota(edge) {
  // The isolate looks once a second, by a timer of its own.
  for (let second = 0; second < 3; second++) {
    await edge.advance(2 * SECOND);
    await sleep(1_100);
  }
  await edge.advance(10 * SECOND);
  await edge.alarms();
}
