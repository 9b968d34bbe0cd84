// Bounds on a request's way to the origin: how long its body may stand still (`upload`), and how
// long the origin may take once it has the request in full (`timeout`). This is JavaScript and not
// part of the module, so that a body goes on when the module fails.
import { isCrowded } from "./permit_heartbeat.js";
import { passage } from "./relay.js";

/**
 * The side that a request waits for. The promise of its answer rejects with the one that was late.
 */
const CLIENT = "client";
const ORIGIN = "origin";

/** The most bytes of a body that are on their way at once. */
const PART = 64 * 1024;

/**
 * The time between two looks at a body, in milliseconds, or a quarter of a shorter bound. A body
 * that stands still is ended late by so much at most.
 */
const LOOK_EVERY = 500;

/**
 * How long a body may stand still while its cap is full and others wait, in milliseconds. A smaller
 * value ends uploads over a bad connection; a larger one keeps their permits from others.
 */
const CROWDED = 3_000;

/**
 * The bytes that a body has to bring meanwhile. A body that drips more slowly keeps a permit from
 * others just as one that stands still.
 */
const LEAST = 1_024;

/** The most bytes of a copied body that are read ahead of the origin. */
const MOST_COPIED = 1 << 20;

/**
 * Returns the bounds of a request. `upload` and `timeout` are milliseconds, or `undefined`;
 * `heartbeat` is that of the request's permits, where it has some.
 */
export function bounds(upload, timeout, isSocket, heartbeat, context) {
  return { upload, timeout, isSocket, heartbeat, context };
}

/**
 * Sends `outgoing`, and ends it when it exceeds one of its `bounds`.
 *
 * Returns the promise of the answer; the promise whether the body was sent in full, or `undefined`
 * where there is no body; and the controller that breaks off the connection, where there is one.
 */
export function fetchWithin(outgoing, init, { upload, timeout, isSocket, heartbeat, context }) {
  if (!outgoing.body && timeout === undefined && !isSocket) return [fetch(outgoing, init)];
  const abort = new AbortController();
  const options = { ...init, signal: abort.signal };
  let end, timer;
  let answered = false;
  const late = new Promise((_, reject) => {
    end = (side) => {
      reject(side);
      abort.abort();
    };
  });
  const waitForAnswer = () => {
    if (timeout !== undefined && !answered) timer = setTimeout(end, timeout, ORIGIN);
  };
  let answer, sent;
  if (outgoing.body) {
    // The origin may answer before it has the body. It then takes its time for the rest.
    const watch = new Watch(upload, timeout, (side) => {
      if (side === CLIENT ? isLate(upload, watch, heartbeat) : watch.quiet >= timeout && !answered) end(side);
    });
    [answer, sent] = sendBody(outgoing, options, watch);
    sent.then((whole) => whole && waitForAnswer());
  } else {
    answer = fetch(outgoing, options);
    waitForAnswer();
  }
  const settle = () => {
    answered = true;
    clearTimeout(timer);
    // An answer that passes through untouched ends the context, but for work that is waited for.
    if (sent) context.waitUntil(sent);
  };
  return [Promise.race([answer, late]).then((response) => (settle(), response)), sent, abort];
}

/** Whether the body that `watch` sees keeps its request waiting for too long. */
function isLate(upload, { quiet, bytes, span }, heartbeat) {
  if (quiet >= upload) return true;
  const stands = quiet >= CROWDED || (span >= CROWDED && bytes < LEAST);
  return stands && isCrowded(heartbeat);
}

/** Sends `outgoing` with its body. Returns the promises of the answer and of `pass` or `read`. */
function sendBody(outgoing, options, watch) {
  const { method, headers } = outgoing;
  if (method === "GET" || method === "HEAD") {
    // The runtime does not let a script give these a body. It does copy the one that they have.
    const copy = outgoing.clone();
    return [fetch(outgoing, options), read(copy.body, watch)];
  }
  const stated = headers.get("content-length");
  const { readable, writable } = passage(stated);
  const sent = pass(outgoing.body, writable, watch, Math.min(PART, Number(stated) || PART));
  return [fetch(outgoing, { ...options, body: readable }), sent];
}

/** Passes on `body` in parts of up to `size`. Returns whether all of it arrived at the origin. */
async function pass(body, writable, watch, size) {
  const reader = body.getReader({ mode: "byob" });
  const writer = writable.getWriter();
  let buffer = new ArrayBuffer(size);
  try {
    for (;;) {
      watch.waitFor(CLIENT);
      const { value, done } = await reader.read(new Uint8Array(buffer));
      watch.waitFor(ORIGIN, value?.byteLength);
      if (done) break;
      await writer.write(value);
      buffer = value.buffer;
    }
    await writer.close();
    return true;
  } catch (error) {
    writer.abort(error).catch(() => {});
    return false;
  } finally {
    watch.stop();
  }
}

/**
 * Reads a body that is a copy of the one that is sent. Returns whether it has ended; the origin
 * gets its end at about the same time. A longer one than `MOST_COPIED` is not watched to its end,
 * and counts as one that stands still.
 */
async function read(body, watch) {
  const reader = body.getReader({ mode: "byob" });
  try {
    for (let total = 0; total < MOST_COPIED; ) {
      watch.waitFor(CLIENT);
      const { value, done } = await reader.read(new Uint8Array(PART));
      if (done) return watch.stop(), true;
      total += value.byteLength;
      watch.waitFor(CLIENT, value.byteLength);
    }
    await reader.cancel();
  } catch {
    watch.stop();
  }
  return false;
}

/** Sees how long a body has stood still, and which side it waits for. */
class Watch {
  /** The time since the last part was taken from one side or by the other, in milliseconds. */
  quiet = 0;
  /** The bytes that the client has brought, and the time that it was waited for meanwhile. Both
   *  begin anew once it has brought enough. */
  bytes = 0;
  span = 0;
  #side = CLIENT;
  #interval;

  constructor(upload = Infinity, timeout = Infinity, look) {
    const every = Math.min(LOOK_EVERY, upload / 4, timeout / 4);
    this.#interval = setInterval(() => {
      this.quiet += every;
      if (this.#side === CLIENT) this.span += every;
      look(this.#side);
    }, every);
  }

  /** Notes the side that is waited for from now on, and the bytes that the client has brought. */
  waitFor(side, bytes = 0) {
    this.#side = side;
    this.quiet = 0;
    this.bytes += bytes;
    if (this.span >= CROWDED && this.bytes >= LEAST) this.bytes = this.span = 0;
  }

  stop() {
    clearInterval(this.#interval);
  }
}
