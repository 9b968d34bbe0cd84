// A WebSocket between a client and the origin. It is here, and not in the module, so that it goes on whatever becomes of that.

/** What a side is told whose other side was lost. */
const GOING_AWAY = 1001;

/** What says that there was no code. */
const NONE = 1005;

/** What the runtime agrees on with each side by itself. */
const OWN = ["sec-websocket-accept", "sec-websocket-extensions", "connection", "upgrade"];

/** The socket of an answer that switches protocols. */
export function socket({ status, webSocket }) {
  return status === 101 ? webSocket : null;
}

/** The answer to the client in the place of `response`, whose `origin` socket is relayed to it from now on; and the promise of the end of that. */
export function relay(response, origin) {
  const [client, server] = Object.values(new WebSocketPair());
  const ended = new Promise((end) => {
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
