// What a test needs, in one import.
export { DAY, HOUR, MINUTE, NOON, ROOT, SECOND, start } from "./edge.mjs";
export { count, HOST, inTurn, open, parallel, rawRequest, send, sendRaw } from "./client.mjs";
export { BROTLI, GZIP, TEXT } from "./origin.mjs";
export { problem, rateHeaders, refusal } from "./refusal.mjs";
export { Random } from "./random.mjs";

/** Resolves once `condition()` holds; fails after ten seconds. For what another process does in its own time. */
export async function until(condition) {
  const deadline = performance.now() + 10_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`never came true: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
