// Heartbeats for the permits of requests at the origin. This is JavaScript, outside of the module,
// so that a cap holds also when the module fails: requests at the origin, streams and live
// WebSockets go on then, and so do their heartbeats. A heartbeat runs in its request's own context,
// and ends with that.

/** How often a request gives a heartbeat, and how often idle permits are looked for, in
 *  milliseconds. A request without a heartbeat for three seconds is not counted any more. */
const BEAT = 1_000;

/** How much later the origin hears that a request was broken off, in milliseconds. Until then
 *  the request counts. */
const SETTLE = 250;

/** How many times idle permits are looked for before that is left to the next request: well
 *  within the time that the runtime grants after an answer. */
const CHECKS = 20;

/** A heartbeat that is late by this many milliseconds is gone, and its context with it: no
 *  hold-up lasts as long. */
const SILENCE = 6_000;

/** After so many failures of the module in a row during one request's heartbeats, the request is
 *  counted no more: it is not worth a new instance of the module each second. */
const FAILURES = 5;

/** The heartbeats of all requests at the origin, the one that was longest silent first. Plain
 *  data: their promises belong to their own contexts. */
const running = new Set();

/** The isolate's holder id: a random number, drawn during a request, as the platform demands. */
let holder;

/** How many instances of the module have held permits. */
let lives = 0;

/** The functions of the module instance that is there now. A call into an instance that fails
 *  returns `undefined`. */
let module;

/** Sets how the module is called. */
export function drive(beat, leave) {
  module = { beat, leave };
}

/** The text that an instance reads before it looks at its first cap: the holder id and its life,
 *  then a line for each permit in use. */
export function standing() {
  holder ??= crypto.getRandomValues(new BigUint64Array(1))[0];
  const now = performance.now();
  const lines = [`${holder} ${lives++}`];
  for (const { at, permits } of running) if (now - at < SILENCE) lines.push(permits);
  return lines.join("\n");
}

/** Starts the heartbeats of `permits`, a line each. */
export function begin(env, permits) {
  const heartbeat = { env, permits, at: 0, failures: 0, timer: 0 };
  heartbeat.timer = setInterval(beat, BEAT, heartbeat);
  mark(heartbeat);
  return heartbeat;
}

/** Goes on until `ended` settles, which fails where the origin's request is broken off. Then
 *  releases the permits, and returns idle ones. `permits` replaces the text, where some were
 *  returned early. */
export function end(heartbeat, context, permits, ended) {
  heartbeat.permits = permits ?? heartbeat.permits;
  context.waitUntil(until(heartbeat, ended));
}

async function until(heartbeat, ended) {
  try {
    await ended;
  } catch {
    await pause(SETTLE);
  }
  stop(heartbeat);
  let idle = module.leave(heartbeat.env, heartbeat.permits);
  for (let checksLeft = CHECKS - 1; idle && checksLeft >= 0; checksLeft--) {
    await pause(BEAT);
    idle = await module.beat(heartbeat.env, idle, checksLeft);
  }
}

function beat(heartbeat) {
  mark(heartbeat);
  const succeeded = module.beat(heartbeat.env, heartbeat.permits) !== undefined;
  heartbeat.failures = succeeded ? 0 : heartbeat.failures + 1;
  if (heartbeat.failures === FAILURES) stop(heartbeat);
}

/** Notes that the request is there now, and forgets requests that were silent for too long. */
function mark(heartbeat) {
  heartbeat.at = performance.now();
  running.delete(heartbeat);
  running.add(heartbeat);
  for (const oldest of running) {
    if (heartbeat.at - oldest.at < SILENCE) break;
    running.delete(oldest);
  }
}

function stop(heartbeat) {
  clearInterval(heartbeat.timer);
  running.delete(heartbeat);
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
