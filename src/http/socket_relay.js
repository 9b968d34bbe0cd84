// Passes on the messages of a WebSocket where Penstock has to know when it ends. This is JavaScript
// and not part of the module, so that it goes on when the module fails.

/** The close code for a side whose other side was lost. */
const GOING_AWAY = 1001;

/** The close code that stands for "no code was sent". */
const NO_CODE = 1005;

/** Headers of a WebSocket handshake that the runtime negotiates with each side by itself. */
const NEGOTIATED = ["sec-websocket-accept", "sec-websocket-extensions", "connection", "upgrade"];

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
