// Clients: an ordinary one that follows no redirect and decodes no body, and one that sends exactly
// the bytes that it is given.
import http from "node:http";
import net from "node:net";

const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });

/** The host that requests are for unless a test says otherwise. */
export const HOST = "shop.example";

/**
 * One request, answered whole.
 *
 * @param {URL} url where the runtime listens
 * @param {object} options `method`, `path`, `ip` (the address that Cloudflare would vouch for),
 *   `key` (`X-API-Key`), `host`, `cf` (the request's `cf` object), `headers` as a list of pairs,
 *   `body`
 */
export async function send(url, options = {}) {
  const { response } = await open(url, options);
  const chunks = [];
  for await (const chunk of response) chunks.push(chunk);
  return new Answer(response, Buffer.concat(chunks));
}

/**
 * One request, answered as soon as the head of the answer is there; its body still streams.
 * `write(request)` sends the body of the request.
 */
export function open(url, { method = "GET", path = "/", ip, key, host = HOST, cf, headers = [], body, write } = {}) {
  const all = [["host", host], ...headers];
  if (ip !== undefined) all.push(["cf-connecting-ip", ip]);
  if (key !== undefined) all.push(["x-api-key", key]);
  if (cf !== undefined) all.push(["mf-cf-blob", JSON.stringify(cf)]);
  if (body !== undefined) all.push(["content-length", String(Buffer.byteLength(body))]);
  return new Promise((resolve, reject) => {
    const options = { host: url.hostname, port: url.port, method, path, headers: all.flat(), agent, setDefaultHeaders: false };
    const request = http.request(options, (response) => resolve({ request, response }));
    request.on("error", reject);
    if (write) write(request);
    else request.end(body);
  });
}

/** A whole answer. */
class Answer {
  constructor(response, body) {
    this.status = response.statusCode;
    /** By lower-case name, lists joined. */
    this.headers = response.headers;
    /** Name and value, line by line, as they came. */
    this.lines = pairs(response.rawHeaders);
    this.body = body;
  }

  get text() {
    return this.body.toString();
  }

  get json() {
    return JSON.parse(this.text);
  }
}

/** Node's flat list of names and values as pairs, names in lower case. */
export function pairs(rawHeaders) {
  return rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [[name.toLowerCase(), rawHeaders[index + 1]]] : []));
}

/** `n` requests at once; `make(index)` starts one. */
export function parallel(n, make) {
  return Promise.all(Array.from({ length: n }, (_, index) => make(index)));
}

/** `n` requests one after the other. */
export async function inTurn(n, make) {
  const answers = [];
  for (let index = 0; index < n; index++) answers.push(await make(index));
  return answers;
}

/** How many answers have this status. */
export function count(answers, status) {
  return answers.filter((answer) => answer.status === status).length;
}

/**
 * Sends `bytes` on a connection of its own and reads one answer: `{ status, headers, text, json }`.
 * Its status is 0 where the runtime hung up without an answer.
 */
export function sendRaw(url, bytes) {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    const socket = net.connect(Number(url.port), url.hostname, () => socket.write(bytes));
    const finish = () => {
      socket.destroy();
      resolve(parse(received));
    };
    socket.setTimeout(10_000, () => reject(new Error(`no answer to ${JSON.stringify(bytes.toString("latin1", 0, 200))}`)));
    socket.on("data", (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (complete(received)) finish();
    });
    socket.on("close", finish);
    socket.on("error", (error) => (error.code === "ECONNRESET" || error.code === "EPIPE" ? finish() : reject(error)));
  });
}

/** The bytes of a request whose target and headers are exactly these; text is taken as Latin-1. */
export function rawRequest({ method = "GET", target = "/", host = HOST, headers = [], body }) {
  const lines = [`${method} ${target} HTTP/1.1`, `Host: ${host}`, ...headers.map(([name, value]) => `${name}: ${value}`)];
  if (body) lines.push(`Content-Length: ${body.length}`);
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), body ?? Buffer.alloc(0)]);
}

/** Whether these bytes are a whole answer to a request with this method. */
export function complete(received, method) {
  const { status, headers, body } = parse(received);
  if (status === 0) return false;
  if (method === "HEAD" || status === 204 || status === 304) return true;
  if (headers["content-length"] !== undefined) return body.length >= Number(headers["content-length"]);
  return headers["transfer-encoding"] === "chunked" && body.subarray(-5).toString() === "0\r\n\r\n";
}

/** The answer that these bytes begin; status 0 while they do not hold its head. */
export function parse(received) {
  while (/^HTTP\/1\.1 1(?!01)/.test(received.toString("latin1", 0, 12)) && received.includes("\r\n\r\n")) {
    received = received.subarray(received.indexOf("\r\n\r\n") + 4);
  }
  const end = received.indexOf("\r\n\r\n");
  if (end < 0) return { status: 0, headers: {}, body: Buffer.alloc(0) };
  const [first, ...lines] = received.subarray(0, end).toString("latin1").split("\r\n");
  const headers = Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]));
  return new RawAnswer(Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1] ?? 0), headers, received.subarray(end + 4));
}

/** An answer that came over a raw connection. A chunked body keeps its chunks' framing. */
class RawAnswer {
  constructor(status, headers, body) {
    Object.assign(this, { status, headers, body });
  }

  get text() {
    return this.body.toString();
  }

  get json() {
    return JSON.parse(this.text);
  }
}
