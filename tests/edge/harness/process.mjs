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
 * Milliseconds that each thread of a process has run, and has been ready to run without a
 * processor.
 */
function threads(pid) {
  try {
    return readdirSync(`/proc/${pid}/task`).map((id) => {
      const [run, wait] = readFileSync(`/proc/${pid}/task/${id}/schedstat`, "utf8").split(" ").map((ns) => Number(ns) / 1e6);
      return { id, run, wait };
    });
  } catch {
    return [];
  }
}

/**
 * Measures how much longer the runtime's work takes because other processes have the processors.
 * The measure does not depend on how much work there is.
 *
 * @returns a function for `{ run, wait }` of the runtime's busiest thread since now, in
 *   milliseconds; both are 0 where the system does not tell
 */
export function processorTime() {
  const pid = runtime();
  const before = new Map(threads(pid).map((thread) => [thread.id, thread]));
  return () => {
    const since = ({ id, run, wait }) => ({ run: run - (before.get(id)?.run ?? 0), wait: wait - (before.get(id)?.wait ?? 0) });
    const all = threads(pid).map(since);
    return all.reduce((busiest, thread) => (thread.run > busiest.run ? thread : busiest), { run: 0, wait: 0 });
  };
}
