// The faults that the matrix tries with each other, by the words for them in docs/failing.md.

/** Replies that no actor can have given. */
const SAYS = [
  "1 1 18446744073709551616 -1",
  '{"v":9,"outcomes":["unknown"],"horizon":1,"d1":0,"rows":0}',
  '{"v":1,"outcomes":[{"met":{"left":1000000,"more":1}}],"grants":[{"count":1000000,"first":0}],"horizon":1,"d1":0,"rows":0}',
  '{"v":1,"outcomes":[{"refused":{"left":0,"wait":18446744073709551615}}],"horizon":1,"d1":0,"rows":0}',
  "",
];

export const ACTOR = {
  "hangs 10 s": { kind: "hang", ms: 10_000 },
  "throws overloaded": { kind: "throw", flags: { overloaded: true, remote: true } },
  "throws disconnected": { kind: "throw", message: "Network connection lost.", flags: { retryable: true, remote: true } },
  "answers nonsense": { kind: "says", texts: SAYS },
  "evicted at each call": { kind: "evict" },
};

export const D1 = {
  hangs: { kind: "hang", ms: 10_000 },
  overloaded: { kind: "throw" },
  "loses its replies": { kind: "lost" },
  busy: { kind: "throw", message: "D1_ERROR: database is locked: SQLITE_BUSY" },
};
