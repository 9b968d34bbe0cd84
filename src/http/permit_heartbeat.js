// What keeps a request's places while it is under way. It is here, and not in the module, so that a cap holds also when the module fails: what is
// at the origin, streams, or is a live WebSocket goes on then, and so does this. It runs in the request's own context, and ends with that.

/** How often a request gives a sign of life, in milliseconds (one that gives none for three seconds is not counted any more), and how often idle slots
 *  are looked after. */
const BEAT = 1_000;

/** The origin hears that a request was broken off a little later, and counts it until then. */
const SETTLE = 250;

/** How often idle slots are looked after before they are left to the next request: well within what the runtime lets go on after an answer. */
const LOOKS = 20;

/** Whoever has given no sign for so long is gone, and its context with it, where nothing tells: no hold-up is as long. */
const SILENCE = 6_000;

/** One under whose own signs the module fails so often in a row is not worth a new instance each second, and is counted no more. */
const FAILURES = 5;

/** The requests under way, those first whose last sign is the oldest. Plain data: their promises are for their own contexts. */
const under = new Set();

/** Who holds the isolate's slots: a number of its own, drawn when a request is there, as the platform demands. */
let holder;

/** How many instances of the module have held slots. */
let lives = 0;

/** The module's part, by whichever instance is there now. Nothing comes of one that fails meanwhile. */
let module;

/** Says how the module is called. */
export function drive(beat, leave) {
  module = { beat, leave };
}

/** What an instance has to know before it looks at its first cap: who holds the slots, which life of it this is, and a line for each place. */
export function standing() {
  holder ??= crypto.getRandomValues(new BigUint64Array(1))[0];
  const now = performance.now();
  const lines = [`${holder} ${lives++}`];
  for (const { at, places } of under) if (now - at < SILENCE) lines.push(places);
  return lines.join("\n");
}

/** Keeps `places`, a line each, from now on. */
export function begin(env, places) {
  const stay = { env, places, at: 0, failures: 0, timer: 0 };
  stay.timer = setInterval(beat, BEAT, stay);
  sign(stay);
  return stay;
}

/** Keeps them until `ended`, which fails where the origin's request is broken off; then gives them back, and looks after what is idle. What is
 *  kept may have become less. */
export function end(stay, context, places, ended) {
  stay.places = places ?? stay.places;
  context.waitUntil(until(stay, ended));
}

async function until(stay, ended) {
  try {
    await ended;
  } catch {
    await pause(SETTLE);
  }
  stop(stay);
  let idle = module.leave(stay.env, stay.places);
  for (let looks = LOOKS - 1; idle && looks >= 0; looks--) {
    await pause(BEAT);
    idle = await module.beat(stay.env, idle, looks);
  }
}

function beat(stay) {
  sign(stay);
  const well = module.beat(stay.env, stay.places) !== undefined;
  stay.failures = well ? 0 : stay.failures + 1;
  if (stay.failures === FAILURES) stop(stay);
}

function sign(stay) {
  stay.at = performance.now();
  under.delete(stay);
  under.add(stay);
  for (const oldest of under) {
    if (stay.at - oldest.at < SILENCE) break;
    under.delete(oldest);
  }
}

function stop(stay) {
  clearInterval(stay.timer);
  under.delete(stay);
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
