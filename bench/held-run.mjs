// Runs on the held clock, each in a runtime of its own, as many at once as there are processors:
// what they say does not depend on what else the machine does.
import os from "node:os";
import { start } from "./runtime.mjs";
import { quantile } from "./stats.mjs";
import { drive } from "./held/drive.mjs";

/**
 * Milliseconds there and back that a call to an object and a statement to D1 take on the held
 * clock.
 */
export const DISTANCE = { actor: 20, d1: 30 };
export const NEAR = { actor: 0, d1: 0 };

/** The step of the clock in milliseconds: each half of a distance is a multiple of the fine one. */
export const FINE = 5;
export const COARSE = 50;

/** Drives one variant: `drive`'s result. */
export async function run(variant, events, { isolates, distance, tick }) {
  const runtime = await start([variant], { origin: "http://127.0.0.1:1", isolates, held: distance });
  try {
    return await drive(runtime, variant.id, events, { isolates, tick });
  } finally {
    await runtime.stop();
  }
}

/** Runs jobs (functions that return promises), some at once; their results in order. */
export async function together(jobs, most = Math.min(4, os.availableParallelism())) {
  const results = [];
  const left = jobs.entries();
  const worker = async () => {
    for (const [index, job] of left) results[index] = await job();
  };
  await Promise.all(Array.from({ length: most }, worker));
  return results;
}

/**
 * The median and the 99th percentile of some answers' latencies, and how many there are of each
 * status.
 */
export function summary(answers) {
  const statuses = {};
  for (const answer of answers) statuses[answer?.status ?? "none"] = (statuses[answer?.status ?? "none"] ?? 0) + 1;
  const times = answers.filter(Boolean).map(({ ms }) => ms).sort((a, b) => a - b);
  return { requests: answers.length, statuses, p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
}
