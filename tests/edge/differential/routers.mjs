// Origins with well-known routers: the same routes in each, in its default mode. An answer of a
// route names its resource in `x-resource`, and the resource's plain spelling in `x-plain`.
import { execFileSync, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import http from "node:http";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import express from "express";
import fastify from "fastify";
import { until } from "../harness/index.mjs";

/**
 * Method and path, and the host of a route for one host. A `*` at the end stands for every path
 * below, in each router's own spelling.
 */
export const ROUTES = [
  ["GET", "/login"],
  ["POST", "/login"],
  ["GET", "/v1/items"],
  ["GET", "/v1/items/:id"],
  ["DELETE", "/v1/items/:id"],
  ["GET", "/files/*"],
  ["GET", "/~me/wow!/a@b,c"],
  ["GET", "/m;v=1/x"],
  ["GET", "/caf%C3%A9"],
  ["GET", "/"],
  ["GET", "/tool", "admin.example"],
];

const header = (value) => Buffer.from(JSON.stringify(value)).toString("base64");

/** The `{ resource, plain }` of an answer, or null where no route was found. */
export function served({ headers }) {
  const read = (name) => JSON.parse(Buffer.from(headers[name], "base64").toString());
  return headers["x-resource"] ? { resource: JSON.stringify(read("x-resource")), plain: read("x-plain") } : null;
}

function headers([method, path, host], params) {
  const [value = ""] = Object.values(params);
  const plain = path.replace(":id", () => encodeURIComponent(value)).replace("*", () => escaped(value));
  return { "x-resource": header([method, path, host, value]), "x-plain": header(plain) };
}

const escaped = (path) => path.split("/").map(encodeURIComponent).join("/");

export function expressRouter() {
  const app = express();
  for (const route of ROUTES) {
    const [method, path, host] = route;
    app[method.toLowerCase()](path.replace("*", "*below").replace("!", "\\!"), (request, response, next) => {
      if (host && request.hostname !== host) return next();
      const { id, below } = request.params;
      response.set(headers(route, { ...(id && { id }), ...(below && { below: below.join("/") }) })).end("ok");
    });
  }
  app.use((request, response) => response.status(404).end("none"));
  app.use((error, request, response, _next) => response.status(error.status ?? 500).end("error"));
  return app;
}

export async function fastifyRouter() {
  const app = fastify();
  for (const route of ROUTES) {
    const [method, path, host] = route;
    const handler = (request, reply) => reply.headers(headers(route, request.params)).send("ok");
    app.route({ method, url: decodeURI(path), handler, ...(host && { constraints: { host } }) });
  }
  await app.ready();
  return app.routing;
}

/** A handler that passes requests on to an nginx; null where the PATH has no nginx. */
export async function nginxRouter(t) {
  try {
    execFileSync("nginx", ["-v"], { stdio: "ignore" });
  } catch {
    return null;
  }
  const folder = await mkdtemp(join(tmpdir(), "penstock-nginx-"));
  const socket = join(folder, "socket");
  // A location knows neither methods nor parameters: the path as nginx reads it is the resource.
  const location = ([, path]) => {
    const at = decodeURI(path.replace(/(:id|\*)$/, ""));
    return `location ${at !== path && at.endsWith("/") ? "^~" : "="} "${at}" { return 200 $uri; }`;
  };
  const locations = [...new Set(ROUTES.filter(([, , host]) => !host).map(location))];
  const folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder}/${name};`);
  const config = `daemon off; master_process off; pid ${folder}/pid; events {}
    http { access_log off; keepalive_requests 1000000; ${folders.join(" ")} server { listen unix:${socket}; ${locations.join("\n")} location / { return 404; } } }`;
  await writeFile(join(folder, "nginx.conf"), config);
  const child = spawn("nginx", ["-p", folder, "-e", "stderr", "-c", join(folder, "nginx.conf")], { stdio: "ignore" });
  t.after(async () => {
    child.kill();
    await rm(folder, { recursive: true, force: true });
  });
  await until(() => listens(socket));
  const agent = new http.Agent({ keepAlive: true, maxSockets: 16 });
  return ({ method: sent, url }, response) => {
    const method = sent === "HEAD" ? "GET" : sent; // The body has the path as nginx reads it.
    const onward = http.request({ agent, socketPath: socket, method, path: url, headers: { host: "origin.example" } });
    onward.on("response", async (answer) => {
      const read = await text(answer);
      const what = answer.statusCode === 200 && { "x-resource": header(["", read]), "x-plain": header(escaped(read)) };
      response.writeHead(answer.statusCode, what || {}).end();
    });
    onward.on("error", () => response.writeHead(400).end());
    onward.end();
  };
}

const listens = (path) =>
  new Promise((resolve) => {
    const socket = net.connect(path, () => resolve(true)).on("error", () => resolve(false));
    socket.on("connect", () => socket.destroy());
  });
