// The runtime's process as Linux sees it.
import { readdirSync, readFileSync } from "node:fs";

const isNumber = (name) => /^\d+$/.test(name);

/**
 * The id of the youngest runtime that this process has started; undefined where the system has no
 * /proc.
 */
function runtime() {
  const isOurs = (pid) => {
    try {
      const [, name, parent] = /^\d+ \((.*)\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8"));
      return name === "workerd" && Number(parent) === process.pid;
    } catch {
      return false; // it has ended meanwhile
    }
  };
  try {
    return readdirSync("/proc").filter(isNumber).filter(isOurs).map(Number).sort((a, b) => a - b).at(-1);
  } catch {
    return undefined;
  }
}

/** The runtime's memory, in bytes; 0 where the system does not tell. */
export function resident() {
  try {
    return 1024 * Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${runtime()}/status`, "utf8"))[1]);
  } catch {
    return 0;
  }
}

/**
 * Measures how long other processes keep the runtime from a processor. Its own work does not count,
 * however slow it is.
 *
 * @returns a function for the milliseconds since now that the thread which waited longest was ready
 *   to run and had no processor; always 0 where the system does not tell
 */
export function processorWait() {
  const pid = runtime();
  const waits = () => {
    try {
      const of = (thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[1]) / 1e6;
      return Object.fromEntries(readdirSync(`/proc/${pid}/task`).map((thread) => [thread, of(thread)]));
    } catch {
      return {};
    }
  };
  const before = waits();
  return () => Math.max(0, ...Object.entries(waits()).map(([thread, ms]) => ms - (before[thread] ?? 0)));
}
