// The applications: downloaded into target/clients, started on ports of their own, ended in the end.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import http from "node:http";
import net from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

const HERE = import.meta.dirname;
const ROOT = resolve(HERE, "../../..");
const TARGET = join(ROOT, "target/clients");
const NEXT = join(TARGET, "next");

const exec = promisify(execFile);

/** Runs a program to its end; fails with what it said. */
async function run(command, args, options = {}) {
  try {
    return await exec(command, args, { maxBuffer: 64 << 20, ...options });
  } catch (error) {
    throw new Error(`${command} ${args.join(" ")}: ${error.message}\n${error.stdout ?? ""}${error.stderr ?? ""}`);
  }
}

/** Runs `make` unless the file `stamp` says that it was done with this `key`. */
async function unlessDone(stamp, key, make) {
  const done = await readFile(stamp, "utf8").catch(() => "");
  if (done === key) return;
  await make();
  await writeFile(stamp, key);
}

/** Installs the Python applications; returns the path of a Python that has them. */
export async function python() {
  const venv = join(TARGET, "python");
  const wanted = join(HERE, "requirements.txt");
  await mkdir(TARGET, { recursive: true });
  await unlessDone(join(TARGET, "python.done"), await readFile(wanted, "utf8"), async () => {
    await rm(venv, { recursive: true, force: true });
    await run("python3", ["-m", "venv", venv]);
    await run(join(venv, "bin/pip"), ["install", "--quiet", "--disable-pip-version-check", "--requirement", wanted]);
  });
  return join(venv, "bin/python");
}

/** Installs Next.js, and builds its application. */
export async function next() {
  const manifest = await readFile(join(HERE, "next/package.json"), "utf8");
  await mkdir(NEXT, { recursive: true });
  await cp(join(HERE, "next"), NEXT, { recursive: true });
  await unlessDone(join(TARGET, "next.done"), manifest, () =>
    run("npm", ["install", "--no-audit", "--no-fund", "--no-package-lock", "--omit=dev"], { cwd: NEXT }),
  );
  const sources = await Promise.all(SOURCES.map((file) => readFile(join(HERE, "next", file), "utf8")));
  await unlessDone(join(TARGET, "next-built.done"), [manifest, ...sources].join("\n"), () =>
    run(join(NEXT, "node_modules/.bin/next"), ["build"], { cwd: NEXT, env: NEXT_ENV }),
  );
}

/** The files of the Next.js application. */
const SOURCES = ["next.config.mjs", "app/layout.js", "app/page.js", "app/done/page.js"];

const NEXT_ENV = { ...process.env, NEXT_TELEMETRY_DISABLED: "1", NODE_ENV: "production" };

/**
 * How each application is started on a port, with a folder of its own: the command, its arguments
 * and options. One that `knowsPath` has the path of ORIGIN in its own addresses; for the others a
 * proxy before them takes it off.
 */
const APPLICATIONS = {
  django: { command: async ({ port, folder, more }) => [await python(), [join(HERE, "site.py"), port, folder, ...more]] },
  wsgidav: {
    knowsPath: true,
    command: async ({ port, folder, path }) => [await python(), [join(HERE, "dav.py"), port, folder, path]],
  },
  next: {
    command: async ({ port }) => [
      join(NEXT, "node_modules/.bin/next"),
      ["start", "--hostname", "127.0.0.1", "--port", port],
      { cwd: NEXT, env: NEXT_ENV },
    ],
  },
};

/**
 * Starts an application below `path`, with `more` arguments.
 *
 * @returns `{ url, stop }`: its address without the path, and what ends it
 */
export async function start(application, path, more = []) {
  const { command, knowsPath } = APPLICATIONS[application];
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), "penstock-application-"));
  const [program, args, options] = await command({ port: String(port), folder, path, more });
  const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"], detached: true });
  const said = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => said.push(chunk));
  const proxy = path && !knowsPath ? await startProxy(port, path) : undefined;
  const stop = async () => {
    proxy?.closeAllConnections();
    await new Promise((closed) => (proxy ? proxy.close(closed) : closed()));
    if (child.exitCode === null && child.signalCode === null) {
      const gone = once(child, "exit");
      process.kill(-child.pid, "SIGKILL");
      await gone;
    }
    await rm(folder, { recursive: true, force: true });
  };
  for (let tries = 0; !(await listens(port)); tries++) {
    if (child.exitCode !== null || tries > 600) {
      await stop();
      throw new Error(`${application} did not start: ${Buffer.concat(said)}`);
    }
    await sleep(100);
  }
  return { url: `http://127.0.0.1:${proxy?.address().port ?? port}`, stop };
}

/** Starts a proxy that takes `path` off each request for `port`, and answers 404 to all others. */
async function startProxy(port, path) {
  const proxy = http.createServer((request, response) => {
    if (!request.url.startsWith(`${path}/`)) return void response.writeHead(404).end("outside of the path");
    const { method, rawHeaders: headers } = request;
    const sent = http.request({ host: "127.0.0.1", port, method, path: request.url.slice(path.length), headers, setDefaultHeaders: false }, (answer) => {
      response.writeHead(answer.statusCode, answer.rawHeaders);
      answer.pipe(response);
    });
    sent.on("error", () => response.destroy());
    request.pipe(sent);
  });
  await new Promise((listening) => proxy.listen(0, "127.0.0.1", listening));
  return proxy;
}

async function freePort() {
  const server = net.createServer();
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address();
  await new Promise((closed) => server.close(closed));
  return port;
}

function listens(port) {
  return new Promise((answer) => {
    const socket = net.connect(port, "127.0.0.1", () => answer(true));
    socket.on("connect", () => socket.destroy());
    socket.on("error", () => answer(false));
  });
}
