// A recording origin. The request's query chooses its answer (`as=…`), so paths stay free for the
// tests.
import { createHash } from "node:crypto";
import http from "node:http";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { WebSocketServer } from "ws";
import { pairs } from "./client.mjs";

export const TEXT = "the origin's answer, at some length: ".repeat(50);
export const GZIP = gzipSync(TEXT);
export const BROTLI = brotliCompressSync(TEXT);

export class Origin {
  /**
   * Every request in the order of arrival: method, url, lines (header pairs), received (bytes so
   * far), hash.
   */
  seen = [];
  /** Header fields of a plain answer. */
  plain = {};
  /** Takes each record as it comes, where it is set; none is kept in `seen` then. */
  watch = null;
  /** A listener of `http.Server` that answers instead, unrecorded. */
  handler;
  /** Requests whose answers have not ended, now and at most since the last `forget`. */
  under = 0;
  most = 0;
  /** Live WebSockets, and the codes and reasons of the others. */
  sockets = 0;
  closed = [];
  #held = [];
  #server;

  static async listen() {
    const origin = new Origin();
    origin.#server = http.createServer({ maxHeaderSize: 256 * 1024 }, origin.serve);
    origin.#server.on("upgrade", (request, socket, head) => origin.#upgrade(request, socket, head));
    origin.#server.keepAliveTimeout = 60_000;
    await new Promise((resolve) => origin.#server.listen(0, "127.0.0.1", resolve));
    return origin;
  }

  get port() {
    return this.#server.address().port;
  }

  get url() {
    return `http://127.0.0.1:${this.port}`;
  }

  /** How many requests came since the last `forget`. */
  get count() {
    return this.seen.length;
  }

  get last() {
    return this.seen.at(-1);
  }

  forget() {
    this.seen.length = 0;
    this.most = this.under;
  }

  /** Completes all answers to `as=held` and `as=events`. */
  release() {
    for (const go of this.#held.splice(0)) go();
  }

  async close() {
    this.release();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #record(request, response) {
    const record = { response, method: request.method, url: request.url, lines: pairs(request.rawHeaders), headers: request.headers, received: 0 };
    const hash = createHash("sha256");
    record.whole = new Promise((resolve) => {
      request.on("data", (chunk) => {
        record.received += chunk.length;
        hash.update(chunk);
      });
      request.on("end", () => resolve((record.hash = hash.digest("hex"))));
      request.on("error", () => resolve());
    });
    if (this.watch) this.watch(record);
    else this.seen.push(record);
    return record;
  }

  serve = async (request, response) => {
    if (this.handler) return this.handler(request, response);
    this.most = Math.max(this.most, ++this.under);
    response.on("close", () => this.under--);
    const query = new URLSearchParams(/\?(.*)$/.exec(request.url)?.[1]);
    const as = query.get("as") ?? "plain";
    if (as === "echo") {
      this.#record(request, response);
      response.writeHead(200, { "content-type": "application/octet-stream" });
      request.pipe(response);
      return;
    }
    await this.#record(request, response).whole;
    (behaviours[as] ?? behaviours.plain)({ request, response, query, held: this.#held, plain: this.plain });
  };

  #upgrade(request, socket, head) {
    this.#record(request);
    if (request.url.includes("as=refused")) return void socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno");
    const server = new WebSocketServer({ noServer: true, handleProtocols: (offered) => [...offered].at(-1) });
    server.handleUpgrade(request, socket, head, (client) => {
      this.sockets++;
      client.on("message", (data, isBinary) => {
        const [, code, reason] = /^close (\d+) (.*)$/.exec(isBinary ? "" : String(data)) ?? [];
        if (code) client.close(Number(code), reason);
        else if (String(data) === "drop") client.terminate();
        else client.send(data, { binary: isBinary });
      });
      client.on("error", () => client.terminate());
      client.on("close", (code, reason) => {
        this.sockets--;
        this.closed.push({ code, reason: String(reason) });
      });
    });
  }
}

const behaviours = {
  /**
   * Sends its head after `ms`, then `parts` parts of `bytes` each, `every` so many milliseconds.
   */
  slow({ response, query }) {
    const [ms, parts, bytes, every] = ["ms", "parts", "bytes", "every"].map((name) => Number(query.get(name) ?? 0));
    const more = (left) => {
      if (response.destroyed) return;
      if (left <= 0) return void response.end("end");
      response.write("x".repeat(bytes));
      setTimeout(more, every, left - 1);
    };
    setTimeout(() => {
      if (response.destroyed) return;
      response.writeHead(Number(query.get("status") ?? 200));
      more(parts);
    }, ms);
  },
  plain({ response, plain }) {
    response.writeHead(200, { "content-type": "text/plain", ...plain }).end("ok");
  },
  /** `status`, and each `h=Name:Value` as a header line. */
  status({ response, query }) {
    const headers = query.getAll("h").flatMap((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1)]);
    response.writeHead(Number(query.get("status")), headers);
    response.end(query.get("body") ?? undefined);
  },
  gzip({ response }) {
    response.writeHead(200, { "content-type": "text/plain", "content-encoding": "gzip", "content-length": GZIP.length }).end(GZIP);
  },
  br({ response }) {
    response.writeHead(200, { "content-type": "text/plain", "content-encoding": "br", "content-length": BROTLI.length }).end(BROTLI);
  },
  range({ request, response }) {
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
    if (from === undefined) return response.writeHead(200, { "accept-ranges": "bytes" }).end(TEXT);
    const part = TEXT.slice(Number(from), Number(to) + 1);
    response.writeHead(206, { "content-range": `bytes ${from}-${to}/${TEXT.length}`, "content-length": part.length }).end(part);
  },
  /** A body of `bytes` that is never whole in memory. */
  big({ response, query }) {
    response.writeHead(200, { "content-type": "application/octet-stream" });
    const chunk = Buffer.alloc(64 * 1024, "x");
    let left = Number(query.get("bytes"));
    const more = () => {
      while (left > 0) {
        const part = chunk.subarray(0, Math.min(left, chunk.length));
        left -= part.length;
        if (!response.write(part)) return void response.once("drain", more);
      }
      response.end();
    };
    more();
  },
  /** The first half at once, the second after `release`. */
  held({ response, held }) {
    response.writeHead(200, { "content-type": "text/plain" });
    response.write("first ");
    held.push(() => response.end("second"));
  },
  events({ response, held }) {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("data: one\n\n");
    held.push(() => response.end("data: two\n\n"));
  },
  /** Declares a length, begins the body, and stalls. */
  stalled({ request, response }) {
    response.writeHead(200, { "content-length": 1_000 });
    if (request.method === "HEAD") response.end();
    else response.write("some");
  },
  /** Takes the request and hangs up without an answer. */
  reset({ request }) {
    request.socket.destroy();
  },
};
