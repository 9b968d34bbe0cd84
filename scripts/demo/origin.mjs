// The demo's origin: says what it was asked, so that one can see what Penstock passes on.
//
//   GET /sse    one server-sent event a second, to see that answers stream
//   /status/N   answers with status N
//   …/slow/MS   answers after so many milliseconds, 60,000 at most, below any path
//   anything    method, path, headers and body, as JSON

import http from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

async function text(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function events(response) {
  let count = 0;
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  const timer = setInterval(() => response.write(`data: ${++count}\n\n`), 1000);
  response.on("close", () => clearInterval(timer));
}

async function answer(request, response) {
  const { method, url, headers } = request;
  const [path] = url.split("?");
  if (path === "/sse") return events(response);
  const wait = Number(/\/slow\/(\d{1,5})$/.exec(path)?.[1] ?? 0);
  if (wait > 0) await sleep(Math.min(wait, 60_000));
  const status = Number(/^\/status\/([2-5]\d\d)$/.exec(path)?.[1] ?? 200);
  const echo = { method, url, headers, body: await text(request) };
  response.writeHead(status, { "content-type": "application/json" });
  response.end(status === 204 || status === 304 ? undefined : JSON.stringify(echo, null, 2) + "\n");
}

/** Starts the origin on 127.0.0.1; resolves once it listens, rejects where the port is taken. */
export function startOrigin(port) {
  const server = http.createServer((request, response) => {
    answer(request, response).catch((error) => response.destroy(error));
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => resolve(server));
  });
}
