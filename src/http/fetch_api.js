// Work on requests and responses that Rust would otherwise do in one call per header. One call that
// passes a string costs about as much as reading ten headers here.
import { mapBack, mapRequest, saysWhere, wayBack } from "./map_back.js";
import { fetchWithin } from "./request_bounds.js";

/**
 * Returns the values of the headers `names`, one line each: no value contains a line break (RFC
 * 9110 §5.5). NUL stands for a header that the client did not send.
 */
export function headerValues(request, names) {
  const { headers } = request;
  return names.map((name) => headers.get(name) ?? "\0").join("\n");
}

/** Returns a line with the method, a line with the URL, and then the lines of `headerValues`. */
export function requestText(request, names) {
  return `${request.method}\n${request.url}\n${headerValues(request, names)}`;
}

/**
 * Makes a response. `text` holds a line for each header's name and a line for its value. The body
 * is `bytes`, or else the part of `text` after NUL, or else absent.
 */
export function makeResponse(status, text, bytes) {
  const end = text.indexOf("\0");
  const lines = end < 0 ? text : text.slice(0, end);
  // `bytes` lie in the module's memory, which is used again after this call, so they are copied.
  const response = new Response(bytes?.slice() ?? (end < 0 ? null : text.slice(end + 1)), { status });
  set(response.headers, lines.split("\n"));
  return response;
}

/**
 * Returns the response with the headers of `lines` in addition to its own, and with all else mapped
 * back along `way`, if there is one.
 */
export function finish(response, lines, way) {
  return finished(response, lines.split("\n"), 0, way);
}

/**
 * How long an origin may take to accept a connection before it counts as out of reach, in
 * milliseconds. More delays the answer to a client of an origin that is down; less takes a slow
 * origin for one that is down.
 */
const PROBE = 1_000;

/** Cloudflare's statuses for an origin that it did not reach: refused, no route, no TLS, no DNS. */
const UNREACHED = new Set([521, 523, 525, 526, 530]);

/**
 * Whether the origin of `url` accepts a connection now, by TLS where `url` says so. The runtime's
 * error is the same for an origin that refused a connection and for one that broke it off after it
 * had the request.
 */
export async function isReachable(url) {
  let socket, timer;
  try {
    const { protocol, hostname, port } = new URL(url);
    const secure = protocol === "https:";
    const { connect } = await import("cloudflare:sockets");
    socket = connect({ hostname, port: Number(port) || (secure ? 443 : 80) }, { secureTransport: secure ? "on" : "off" });
    socket.closed.catch(() => {});
    const tooLate = new Promise((_, reject) => (timer = setTimeout(reject, PROBE)));
    await Promise.race([socket.opened, tooLate]);
    return true;
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
    socket?.close().catch(() => {});
  }
}

/** Whether an answer is Cloudflare's own word that it could not reach the origin. */
export function tellsUnreached(response) {
  // The headers are read for these statuses alone: reading them costs a script object.
  return UNREACHED.has(response.status) && response.headers.get("server") === "cloudflare";
}

/**
 * Sends the request to the origin within `bounds`; see `fetchWithin`. `text` has a line for the
 * URL, a line for the ORIGIN that it is at (blank where there is none), two lines for each header
 * that is not as the client sent it (its name, and its value or NUL for none), and a blank line.
 */
export function send(request, text, encodeResponseBody, bounds) {
  const parts = text.split("\n");
  const outgoing = requestTo(request, parts, parts.indexOf("", 2), wayBack(request, parts[1], parts[0]));
  return fetchWithin(outgoing, { encodeResponseBody }, bounds);
}

/**
 * Sends the request to the origin and returns its response without calling the module again. `text`
 * begins as that of `send`. The line after the blank one lists the quota tokens that the module
 * takes back if the request does not reach the origin; mostly it is empty. The rest are headers for
 * `finish`.
 *
 * The exchange goes on even when the module fails. The result tells `entry.js` that the response
 * comes by this promise, which rejects when the origin cannot be reached: with the runtime's error,
 * or with Cloudflare's `answer`. Either then has the `dayTokens` to take back.
 */
export function forward(request, text) {
  return { forwarded: exchange(request, text.split("\n")) };
}

async function exchange(request, parts) {
  const blank = parts.indexOf("", 2);
  const way = wayBack(request, parts[1], parts[0]);
  const dayTokens = parts[blank + 1];
  let response;
  let begun = false;
  try {
    const outgoing = requestTo(request, parts, blank, way);
    begun = true;
    response = await fetch(outgoing);
  } catch (error) {
    throw dayTokens && !(begun && (await isReachable(parts[0]))) ? Object.assign(error, { dayTokens }) : error;
  }
  const answer = finished(response, parts, blank + 2, way);
  if (dayTokens && tellsUnreached(response)) throw { dayTokens, answer };
  return answer;
}

/**
 * Returns a copy of the request for the URL `parts[0]`, with the headers in `parts` up to index
 * `end`, and with the places that it names at the other end of `way`, if there is one. A Request as
 * the init of another gives it everything: method, headers, body stream, redirect mode and signal.
 */
function requestTo(request, parts, end, way) {
  const outgoing = new Request(parts[0], request);
  const { headers } = outgoing;
  if (way) mapRequest(headers, way);
  for (let at = 2; at < end; at += 2) {
    if (parts[at + 1] === "\0") headers.delete(parts[at]);
    else headers.set(parts[at], parts[at + 1]);
  }
  return outgoing;
}

/**
 * Returns the response with more headers, the names and values in `parts` from index `from`, and
 * with its own mapped back along `way`. A response to which neither applies stays as it is, as does
 * a switch of protocols (101) or a status above 599 (some origins send 999): the runtime passes
 * them on, but does not let a script make such a response.
 */
function finished(response, parts, from, way) {
  // The headers are read only where there may be something to map: it costs a script object.
  if (parts.length < from + 2 && !(way && saysWhere(response.headers))) return response;
  const { status } = response;
  if (status < 200 || status > 599) return response;
  const copy = new Response(response.body, response);
  const { headers } = copy;
  if (way && saysWhere(headers)) mapBack(headers, way);
  add(headers, parts, from);
  return copy;
}

/** The names under which an older draft of the rate headers speaks of one limit. */
const OLD_DRAFT = ["RateLimit", "RateLimit-Policy", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"];

/**
 * Adds headers beside the origin's own.
 *
 * `RateLimit` and `RateLimit-Policy` are lists of strings (RFC 9651), so the origin's items stay
 * and these follow. When the origin's value is not such a list, as in older drafts, it stays alone:
 * together nobody could parse either. `X-RateLimit-*` have room for one limit, as the headers of
 * older drafts have, and stay the origin's.
 */
function add(headers, parts, from) {
  let originHasLegacy, originHasDraft;
  for (let at = from; at + 1 < parts.length; at += 2) {
    const [name, value] = [parts[at], parts[at + 1]];
    const own = headers.get(name);
    if (name.startsWith("X-")) {
      originHasLegacy ??=
        headers.has("x-ratelimit-limit") || headers.has("x-ratelimit-remaining") || headers.has("x-ratelimit-reset");
      if (originHasLegacy) continue;
    } else if (name.startsWith("RateLimit")) {
      if (own && !own.startsWith('"')) continue;
      if (!value.startsWith('"') && (originHasDraft ??= OLD_DRAFT.some((old) => headers.get(old)))) continue;
    }
    if (own) headers.append(name, value);
    else headers.set(name, value);
  }
}

function set(headers, parts) {
  for (let at = 0; at + 1 < parts.length; at += 2) headers.set(parts[at], parts[at + 1]);
}
