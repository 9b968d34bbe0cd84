// Passes on the body of an answer, or the messages of a WebSocket, where Penstock has to know when
// they end. This is JavaScript and not part of the module, so that it goes on when the module
// fails.

/** No length from here on is known exactly: a double cannot represent all greater integers. */
const FIRST_INEXACT_LENGTH = 2 ** 53;

/**
 * The highest status that a script may give a response. Some origins send 999, which the runtime
 * passes on.
 */
const HIGHEST_STATUS = 599;

/**
 * The most bytes of a copied body to read. The runtime buffers this much for a slow client, since
 * the copy is ahead of it; beyond this the end of the body is not watched.
 */
const MOST_WATCHED_BYTES = 1 << 20;

/**
 * The longest time that a copied body is read, in milliseconds. After it the platform ends the work
 * that goes on after a response.
 */
const LONGEST_WATCH = 30_000;

/** The close code for a side whose other side was lost. */
const GOING_AWAY = 1001;

/** The close code that stands for "no code was sent". */
const NO_CODE = 1005;

/** Headers of a WebSocket handshake that the runtime negotiates with each side by itself. */
const NEGOTIATED = ["sec-websocket-accept", "sec-websocket-extensions", "connection", "upgrade"];

/**
 * Returns the response with its body through a pipe, which the runtime pumps by itself, and the
 * promise of the pipe's end; `undefined` when it has no body. A length that the origin has stated
 * stays stated.
 *
 * The pipe notices that the client has left when it writes. While the origin sends nothing, only
 * the request's signal tells, and only with the compatibility flag `enable_request_signal`.
 */
export function pipeBody(response, { signal }) {
  if (!response.body) return undefined;
  if (response.status > HIGHEST_STATUS) return [response, endOfCopy(response.clone().body)];
  const { readable, writable } = passage(response.headers.get("content-length"));
  return [new Response(readable, response), response.body.pipeTo(writable, { signal })];
}

/** Makes a stream for a body to pass through. A length that was `stated` stays stated. */
export function passage(stated) {
  const length = /^\d+$/.test(stated ?? "") ? Number(stated) : FIRST_INEXACT_LENGTH;
  return length < FIRST_INEXACT_LENGTH ? new FixedLengthStream(length) : new IdentityTransformStream();
}

/**
 * Returns the promise of the end of the body that `copy` is a copy of. The runtime keeps all that
 * the client has not read yet, and does not tell when the client has left. So the copy is read for
 * at most `MOST_WATCHED_BYTES` and `LONGEST_WATCH`; the promise rejects beyond either.
 */
function endOfCopy(copy) {
  let bytes = 0;
  const write = ({ length }) => {
    bytes += length;
    if (bytes > MOST_WATCHED_BYTES) throw new RangeError();
  };
  return copy.pipeTo(new WritableStream({ write }), { signal: AbortSignal.timeout(LONGEST_WATCH) });
}

/** Returns the origin's WebSocket when the response switches protocols, or else `null`. */
export function socket({ status, webSocket }) {
  return status === 101 ? webSocket : null;
}

/**
 * Relays messages between the socket `origin` and the client. Returns the response for the client,
 * which replaces `response`, and a promise that rejects when the connection ends: the origin learns
 * of the end a little later, just as with a request that is broken off.
 */
export function relay(response, origin) {
  const [client, server] = Object.values(new WebSocketPair());
  const ended = new Promise((_, end) => {
    join(server, origin, end);
    join(origin, server, end);
  });
  for (const side of [server, origin]) {
    side.binaryType = "arraybuffer";
    side.accept();
  }
  const headers = new Headers(response.headers);
  for (const name of NEGOTIATED) headers.delete(name);
  return [new Response(null, { status: 101, headers, webSocket: client }), ended];
}

/** Passes messages and the close of `from` on to `to`. Calls `end` once `from` is closed. */
function join(from, to, end) {
  from.addEventListener("message", ({ data }) => ignoreErrors(() => to.send(data)));
  from.addEventListener("close", ({ code, reason }) => {
    close(to, code, reason);
    end();
  });
  from.addEventListener("error", () => {
    for (const side of [to, from]) close(side, GOING_AWAY);
    end();
  });
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
