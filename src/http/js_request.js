// What would otherwise be a call from Rust for each header, done in one. A call with a text costs about as much as ten
// headers read here.

/** The values of the headers `names`, a line each: no value has a line break in it (RFC 9110 §5.5). NUL where one was not sent. */
export function fields(request, names) {
  const { headers } = request;
  return names.map((name) => headers.get(name) ?? "\0").join("\n");
}

/** The method and the URL, and then as `fields`. */
export function shown(request, names) {
  return `${request.method}\n${request.url}\n${fields(request, names)}`;
}

/** A response with the headers of `text`: a name and its value in turn. What stands after NUL there is the body, if no `bytes` are. */
export function made(status, text, bytes) {
  const end = text.indexOf("\0");
  const lines = end < 0 ? text : text.slice(0, end);
  // The bytes lie in memory that will be used again.
  const response = new Response(bytes?.slice() ?? (end < 0 ? null : text.slice(end + 1)), { status });
  set(response.headers, lines.split("\n"));
  return response;
}

/** The same response with headers besides its own. */
export function dressed(response, lines) {
  return lines ? withHeaders(response, lines.split("\n"), 0) : response;
}

/** Sends the request on to `url`, with one more header line. */
export function send(request, url, name, value, encodeResponseBody, signal) {
  const outgoing = onward(request, url, name, value);
  return encodeResponseBody || signal ? fetch(outgoing, { encodeResponseBody, signal }) : fetch(outgoing);
}

/** The whole way to the origin and back: `lines` are what `send` is given, and then what `dressed` is. It goes on whatever becomes of the module, so
 *  `entry.js` is told that the answer comes this way, or what the runtime throws where the origin cannot be reached. */
export function pass(request, lines) {
  return { passed: passed(request, lines.split("\n")) };
}

async function passed(request, parts) {
  const response = await fetch(onward(request, parts[0], parts[1], parts[2]));
  return parts.length > 4 ? withHeaders(response, parts, 3) : response;
}

/** A Request serves as the init of another, and brings all it has: method, headers, body stream, redirect mode, signal. */
function onward(request, url, name, value) {
  const outgoing = new Request(url, request);
  outgoing.headers.append(name, value);
  return outgoing;
}

/** A switch of protocols (101) is left alone, and so is a status past 599 (some origins say 999): the runtime passes them on, but lets nobody make
 *  another like them. */
function withHeaders(response, parts, from) {
  const { status } = response;
  if (status < 200 || status > 599) return response;
  const copy = new Response(response.body, response);
  add(copy.headers, parts, from);
  return copy;
}

/** Where an origin tells of limits of its own, so do we beside it: they are lists of strings (RFC 9651). What is in no such form, as older drafts had
 *  it, stays alone, or nobody could read either. The older headers have room for one limit alone, and stay the origin's. */
function add(headers, parts, from) {
  let theirs;
  for (let at = from; at + 1 < parts.length; at += 2) {
    const [name, value] = [parts[at], parts[at + 1]];
    const own = headers.get(name);
    if (name.startsWith("X-")) {
      theirs ??= headers.has("x-ratelimit-limit") || headers.has("x-ratelimit-remaining") || headers.has("x-ratelimit-reset");
      if (theirs) continue;
    } else if (own && name.startsWith("RateLimit") && !own.startsWith('"')) continue;
    if (own) headers.append(name, value);
    else headers.set(name, value);
  }
}

function set(headers, parts) {
  for (let at = 0; at + 1 < parts.length; at += 2) headers.set(parts[at], parts[at + 1]);
}
