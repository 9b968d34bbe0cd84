// What goes on between a client and the origin where it matters when it ends. It is here, and not in the module, so that it goes on whatever
// becomes of that.

/** A length from here on is none to the runtime: a double does not hold them all. */
const LONGEST = 2 ** 53;

/** The highest status of an answer that may be made. Some origins say 999, which the runtime passes on. */
const HIGHEST = 599;

/** So many bytes of an answer may wait for a slow client because its end is looked for. */
const WATCHED = 1 << 20;

/** So many milliseconds what goes on may be watched after an answer's head: the platform's own bound. */
const WATCH = 30_000;

/** What a side is told whose other side was lost. */
const GOING_AWAY = 1001;

/** What says that there was no code. */
const NONE = 1005;

/** What the runtime agrees on with each side by itself. */
const OWN = ["sec-websocket-accept", "sec-websocket-extensions", "connection", "upgrade"];

/** The same answer with its body, if it has one, through a pipe, which the runtime pumps by itself; and the promise of the pipe's end. A length that
 *  was said stays said. Where the origin says nothing for a while, only the request's signal tells that its client has left, and that only by the
 *  compatibility flag `enable_request_signal`: the pipe would find it out as it writes. */
export function piped(response, { signal }) {
  if (!response.body) return undefined;
  if (response.status > HIGHEST) return [response, watched(response.clone().body)];
  const said = response.headers.get("content-length") ?? "";
  const length = /^\d+$/.test(said) ? Number(said) : LONGEST;
  const { readable, writable } = length < LONGEST ? new FixedLengthStream(length) : new IdentityTransformStream();
  return [new Response(readable, response), response.body.pipeTo(writable, { signal })];
}

/** The promise of the end of the body that `copy` is of. The runtime keeps what the other reader has not read yet, and nothing tells when that has
 *  left: so it is read no further than `WATCHED`, and no longer than `WATCH`. */
function watched(copy) {
  let seen = 0;
  const write = ({ length }) => {
    seen += length;
    if (seen > WATCHED) throw new RangeError();
  };
  return copy.pipeTo(new WritableStream({ write }), { signal: AbortSignal.timeout(WATCH) });
}

/** The socket of an answer that switches protocols. */
export function socket({ status, webSocket }) {
  return status === 101 ? webSocket : null;
}

/** The answer to the client in the place of `response`, whose `origin` socket is relayed to it from now on; and the promise of the end of that: it
 *  fails, since the origin hears of it a little later. */
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
  for (const name of OWN) headers.delete(name);
  return [new Response(null, { status: 101, headers, webSocket: client }), ended];
}

/** Passes on to `to` what `from` says, its end included, which is also the relay's. */
function join(from, to, end) {
  from.addEventListener("message", ({ data }) => attempt(() => to.send(data)));
  from.addEventListener("close", ({ code, reason }) => {
    close(to, code, reason);
    end();
  });
  from.addEventListener("error", () => {
    for (const side of [to, from]) close(side, GOING_AWAY);
    end();
  });
}

/** Ends a side as the other one did. Many a code nobody may send (RFC 6455 §7.4), and some do; the end is to be told all the same. */
function close(side, code, reason) {
  try {
    if (code === NONE) side.close();
    else side.close(code, reason);
  } catch {
    attempt(() => side.close(GOING_AWAY));
  }
}

/** What cannot be sent any more is for nobody. */
function attempt(send) {
  try {
    send();
  } catch {}
}
