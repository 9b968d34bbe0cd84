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

/** A response with the headers that `lines` has: a name and its value in turn. */
export function made(status, text, bytes, lines) {
  // The bytes lie in memory that will be used again.
  const response = new Response(bytes?.slice() ?? text, { status });
  set(response.headers, lines);
  return response;
}

/** The same response with headers besides its own. */
export function dressed(response, lines) {
  const copy = new Response(response.body, response);
  set(copy.headers, lines);
  return copy;
}

/** Sends the request on to `url`, with one more header line. A Request serves as the init of another, and brings all it has: method, headers, body stream,
 *  redirect mode, signal. */
export function send(request, url, name, value, encodeResponseBody, signal) {
  const outgoing = new Request(url, request);
  outgoing.headers.append(name, value);
  return encodeResponseBody || signal ? fetch(outgoing, { encodeResponseBody, signal }) : fetch(outgoing);
}

function set(headers, lines) {
  const parts = lines.split("\n");
  for (let at = 0; at + 1 < parts.length; at += 2) headers.set(parts[at], parts[at + 1]);
}
