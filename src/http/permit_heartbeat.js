// Heartbeats for the permits of requests at the origin. This is JavaScript, outside of the
// WebAssembly module, so that a cap holds also when the module fails: requests at the origin,
// streams and live WebSockets go on then, and so do their heartbeats. A heartbeat runs in its
// request's own context, and ends with that.

/** How often a request gives a heartbeat, and how often idle permits are looked for, in
 *  milliseconds. A request without a heartbeat for three seconds is not counted any more. */
const BEAT = 1_000;

/** How long the permits of a broken-off request stay in use, in milliseconds, since the origin
 *  learns of it later. */
const BROKEN_OFF_DELAY = 250;

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

/** How many instances of the module have called `permitsInUse`. */
let lives = 0;

/** The functions of the module instance that is there now. A call into an instance that fails
 *  returns `undefined`. */
let module;

/** Sets how the module is called. */
export function connect(heartbeat, release, crowded) {
  module = { heartbeat, release, crowded };
}

/** The text that an instance reads before it looks at its first cap: the holder id and its life,
 *  then a line for each permit in use. */
export function permitsInUse() {
  holder ??= crypto.getRandomValues(new BigUint64Array(1))[0];
  const now = performance.now();
  const texts = [`${holder} ${lives++}`];
  for (const { at, lines } of running) if (now - at < SILENCE) texts.push(lines);
  return texts.join("\n");
}

/** Starts the heartbeats of the permits in `lines`, a line each. A relay of messages adds `look`,
 *  which sets `behind`: the bytes that it has under way. */
export function begin(env, lines) {
  const heartbeat = { env, lines, at: 0, failures: 0, timer: 0, behind: 0, look: undefined };
  heartbeat.timer = setInterval(beat, BEAT, heartbeat);
  mark(heartbeat);
  return heartbeat;
}

/** Whether a cap is full and others wait for a permit such as this request has. `heartbeat` is
 *  `undefined` where it has none. */
export function isCrowded(heartbeat) {
  return Boolean(heartbeat && module.crowded(heartbeat.env, heartbeat.lines));
}

/** The bytes that the relays of this isolate have under way, each as it last saw its own. */
export function bytesBehind() {
  let bytes = 0;
  for (const { behind } of running) bytes += behind;
  return bytes;
}

/** Keeps the heartbeats going until `ended` settles; it rejects where the origin learns of the end
 *  later, as when the request to it was broken off. Then releases the permits, and gives back idle
 *  ones. `lines` replaces the earlier lines, where some permits were given back early. */
export function end(heartbeat, context, lines, ended) {
  heartbeat.lines = lines ?? heartbeat.lines;
  context.waitUntil(until(heartbeat, ended));
}

async function until(heartbeat, ended) {
  try {
    await ended;
  } catch {
    await pause(BROKEN_OFF_DELAY);
  }
  stop(heartbeat);
  let idle = module.release(heartbeat.env, heartbeat.lines);
  for (let checksLeft = CHECKS - 1; idle && checksLeft >= 0; checksLeft--) {
    await pause(BEAT);
    idle = await module.heartbeat(heartbeat.env, idle, checksLeft);
  }
}

function beat(heartbeat) {
  mark(heartbeat);
  heartbeat.look?.();
  const succeeded = module.heartbeat(heartbeat.env, heartbeat.lines) !== undefined;
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
