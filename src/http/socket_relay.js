// Passes on the messages of a WebSocket where Penstock has to know when it ends. This is JavaScript
// and not part of the module, so that it goes on when the module fails.

import { bytesBehind } from "./permit_heartbeat.js";

/** The close code for a side whose other side was lost, or where nothing passed for too long. */
const GOING_AWAY = 1001;

/** The close code for a relay whose reader is too slow (RFC 6455 §7.4.1 and IANA's list). */
const TRY_AGAIN_LATER = 1013;

/**
 * The most bytes under way to one reader before another message. The runtime lets no script hold
 * back a sender. A smaller value ends relays of readers that are slow for a moment; a larger one
 * costs memory, of which an isolate has 128 MB.
 */
const MOST = 4 << 20;

/** The most bytes under way in all relays of the isolate, and those to one reader beyond which that
 *  one is ended then. */
const MOST_TOGETHER = 48 << 20;
const MOST_OF_MANY = 1 << 20;

/** How long a reader has to take what was sent before it is broken off, in milliseconds. */
const LAST_WORDS = 5_000;

/** The looks within `idle`: a relay ends late by one of these at most. */
const IDLE_LOOKS = 16;

/** The close code that stands for "no code was sent". */
const NO_CODE = 1005;

/** Headers of a WebSocket handshake that the runtime negotiates with each side by itself. */
const NEGOTIATED = ["sec-websocket-accept", "sec-websocket-extensions", "connection", "upgrade"];

/** Returns the origin's WebSocket when the response switches protocols, or else `null`. */
export function socket({ status, webSocket }) {
  return status === 101 ? webSocket : null;
}

/**
 * Relays messages between the socket `origin` and the client, within `bounds` (see `relayBounds`).
 * Returns the response for the client, which replaces `response`, and a promise that rejects when
 * the connection ends: the origin learns of the end a little later, just as with a request that is
 * broken off.
 */
export function relay(response, origin, bounds) {
  const [client, server] = Object.values(new WebSocketPair());
  const ended = new Promise((_, end) => new Relay(server, origin, bounds, end));
  for (const side of [server, origin]) {
    side.binaryType = "arraybuffer";
    side.accept();
  }
  const headers = new Headers(response.headers);
  for (const name of NEGOTIATED) headers.delete(name);
  return [new Response(null, { status: 101, headers, webSocket: client }), ended];
}

/**
 * Returns the bounds of a relay: `idle` in milliseconds, or `undefined`; the controller that breaks
 * off the origin's side; the `heartbeat` of the permit; the runtime's context.
 */
export function relayBounds(idle, abort, heartbeat, context) {
  return { idle, abort, heartbeat, context };
}

/** Two sides and the messages between them. Calls `end` when the connection ends. */
class Relay {
  #sides;
  #bounds;
  #end;
  /** The looks since something last passed. */
  #quiet = 0;
  #timer;
  /** The sides that have closed after this relay closed both; `undefined` before. */
  #closed;

  constructor(server, origin, bounds, end) {
    this.#sides = [server, origin];
    this.#bounds = bounds;
    this.#end = end;
    this.#join(server, origin);
    this.#join(origin, server);
    const { idle, heartbeat } = bounds;
    if (idle !== undefined) this.#timer = setInterval(() => this.#lookIfIdle(), idle / IDLE_LOOKS);
    heartbeat.look = () => (heartbeat.behind = server.bufferedAmount + origin.bufferedAmount);
  }

  /** Passes messages and the close of `from` on to `to`. */
  #join(from, to) {
    from.addEventListener("message", ({ data }) => {
      this.#quiet = 0;
      if (this.#closed) return;
      if (this.#isBehind(to)) this.#breakOff();
      else ignoreErrors(() => to.send(data));
    });
    from.addEventListener("close", ({ code, reason }) => {
      if (this.#closed) return this.#noteClosed(from);
      close(to, code, reason);
      this.#finish();
    });
    from.addEventListener("error", () => {
      if (this.#closed) return this.#noteClosed(from);
      this.#close(GOING_AWAY);
      this.#finish();
    });
  }

  /** Whether the reader of `side` has so much before it that no more is put on top. */
  #isBehind(side) {
    const { bufferedAmount } = side;
    if (bufferedAmount <= MOST_OF_MANY) return false;
    this.#bounds.heartbeat.look();
    return bufferedAmount > MOST || bytesBehind() > MOST_TOGETHER;
  }

  #lookIfIdle() {
    this.#quiet += 1;
    if (this.#quiet <= IDLE_LOOKS) return;
    this.#closed = new Set();
    this.#close(GOING_AWAY, "idle");
    this.#finish();
  }

  /**
   * Closes both sides, and breaks them off where that takes too long: a side that reads nothing
   * does not read that it is closed, and the runtime would keep everything that it was sent. The
   * permit is in use until then.
   */
  #breakOff() {
    this.#closed = new Set();
    clearInterval(this.#timer);
    this.#close(TRY_AGAIN_LATER, "the reader is too slow");
    const { abort, context } = this.#bounds;
    const broken = new Promise((resolve) => setTimeout(resolve, LAST_WORDS)).then(() => {
      if (this.#closed.size === this.#sides.length) return;
      this.#finish();
      abort?.abort();
      // Only the end of its context breaks off the client's side. `retryable` stands for a lost
      // connection, which the runtime does not log as a fault of the Worker.
      const lost = Object.assign(new Error("a WebSocket's reader did not read"), { retryable: true });
      if (!this.#closed.has(this.#sides[0])) context.abort?.(lost);
    });
    context.waitUntil(broken);
  }

  #noteClosed(side) {
    this.#closed.add(side);
    if (this.#closed.size === this.#sides.length) this.#finish();
  }

  #close(code, reason) {
    for (const side of this.#sides) close(side, code, reason);
  }

  #finish() {
    clearInterval(this.#timer);
    this.#end();
  }
}

/**
 * Closes a side as the other side was closed. Peers send codes that no endpoint may send (RFC 6455
 * §7.4), and the runtime rejects them. The side is then closed with `GOING_AWAY`.
 */
function close(side, code, reason) {
  try {
    if (code === NO_CODE) side.close();
    else side.close(code, reason);
  } catch {
    ignoreErrors(() => side.close(GOING_AWAY));
  }
}

/**
 * Runs `action`. It throws when the side is closed already, and then there is nothing left to do.
 */
function ignoreErrors(action) {
  try {
    action();
  } catch {}
}
