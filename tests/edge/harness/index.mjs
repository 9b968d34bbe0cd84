// The parts of the harness that tests use, in one import.
export { DAY, HOUR, MINUTE, NOON, ROOT, SECOND, start } from "./edge.mjs";
export { count, HOST, inTurn, open, parallel, rawRequest, send, sendRaw } from "./client.mjs";
export { BROTLI, GZIP, TEXT } from "./origin.mjs";
export { returnIdleQuota, usedQuota } from "./quota.mjs";
export { problem, rateHeaders, refusal } from "./refusal.mjs";
export { Random } from "./random.mjs";
export { openSocket } from "./socket.mjs";
export { until, untilAdmitted } from "./wait.mjs";
