// WebSocket clients.
import { once } from "node:events";
import WebSocket from "ws";
import { HOST } from "./client.mjs";

/**
 * Opens a WebSocket through the isolate at `url`.
 *
 * @param {object} options `path`, `ip` (the address that Cloudflare would vouch for), `protocols`
 *   (subprotocols to offer)
 * @returns `{ status: 101, client }` once it is open, or `{ status, headers }` where it is refused
 */
export async function openSocket(url, { path = "/socket", ip, protocols = [] } = {}) {
  const headers = { Host: HOST, "CF-Connecting-IP": ip };
  const client = new WebSocket(new URL(path, `ws://${url.host}`), protocols, { headers });
  client.on("error", () => {});
  const refused = once(client, "unexpected-response").then(([request, response]) => {
    request.destroy();
    return { status: response.statusCode, headers: response.headers };
  });
  const opened = once(client, "open").then(() => ({ status: 101, client }));
  // Both reject where the connection breaks; the race below reports it.
  refused.catch(() => {});
  opened.catch(() => {});
  return Promise.race([opened, refused]);
}
