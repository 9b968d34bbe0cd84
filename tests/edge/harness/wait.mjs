// Waiting for the work of other processes: the runtime, the origin, a browser.
import { setTimeout as sleep } from "node:timers/promises";

/** Resolves once `condition()` holds; fails after `ms` milliseconds. */
export async function until(condition, { ms = 10_000 } = {}) {
  const deadline = performance.now() + ms;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`never came true: ${condition}`);
    await sleep(5);
  }
}

/**
 * Asks again and again until a request is admitted, for at most ten seconds; returns how many
 * milliseconds that took.
 *
 * @param {Function} ask sends one request and resolves to its answer, which admits it with 200 or
 *   101
 */
export async function untilAdmitted(ask) {
  const begun = performance.now();
  await until(async () => [101, 200].includes((await ask()).status) || void (await sleep(20)));
  return performance.now() - begun;
}
