// Runs the demo: the origin in this process, `wrangler dev` in front of it, until Ctrl-C. Every start begins with
// fresh counters, so that the printed commands do what is said of them. Or runs another configuration (CONFIG), before another origin (ORIGIN).

import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import net from "node:net";
import { startOrigin } from "./origin.mjs";

const PORT = Number(process.env.PORT ?? 8787);
const ORIGIN_PORT = Number(process.env.ORIGIN_PORT ?? 9090);
const STATE = `.wrangler/demo-${PORT}`; // one each, so that two demos do not share counters
const DEMO = "scripts/demo/wrangler.toml";
const FILE = process.env.CONFIG || DEMO;
const CONFIG = ["--config", FILE, "--persist-to", STATE];
const ORIGIN = process.env.ORIGIN || `http://127.0.0.1:${ORIGIN_PORT}`;
const START_SECONDS = 120;

let wrangler; // the child that runs now, if one does
let stopping = false;

function fail(message) {
  console.error(message);
  return stop(1);
}

/** Ends the child's whole process group (workerd is in it), politely at first, then this process. */
async function stop(code) {
  if (stopping) return;
  stopping = true;
  if (wrangler && wrangler.exitCode === null && wrangler.signalCode === null) {
    const gone = once(wrangler, "exit");
    signalGroup("SIGTERM");
    const last = setTimeout(() => signalGroup("SIGKILL"), 4000);
    await gone;
    clearTimeout(last);
  }
  signalGroup("SIGKILL");
  process.exit(code);
}

function signalGroup(signal) {
  try {
    if (wrangler) process.kill(-wrangler.pid, signal);
  } catch {
    // The group is gone already, which is what was wanted.
  }
}

async function assertFree(port, variable) {
  const probe = net.createServer();
  try {
    await new Promise((resolve, reject) => probe.once("error", reject).listen(port, "127.0.0.1", resolve));
  } catch (error) {
    return fail(`Port ${port} cannot be used (${error.code}). Choose another: make dev ${variable}=${port + 1}`);
  }
  await new Promise((resolve) => probe.close(resolve));
}

/** Runs wrangler in a process group of its own. Its output is kept back until `show()`. */
function runWrangler(args) {
  wrangler = spawn("wrangler", args, { stdio: ["ignore", "pipe", "pipe"], detached: true });
  let kept = [];
  const take = (chunk) => (kept ? kept.push(chunk) : process.stdout.write(chunk));
  wrangler.stdout.on("data", take);
  wrangler.stderr.on("data", take);
  return {
    exit: once(wrangler, "exit").then(([code]) => code),
    show: (chunks = kept ?? []) => {
      kept = null;
      for (const chunk of chunks) process.stdout.write(chunk);
    },
  };
}

async function migrate() {
  fs.rmSync(STATE, { recursive: true, force: true });
  const run = runWrangler(["d1", "migrations", "apply", "DB", "--local", ...CONFIG]);
  if ((await run.exit) === 0) return;
  run.show();
  await fail("The D1 migrations could not be applied.");
}

async function answers() {
  try {
    await fetch(`http://127.0.0.1:${PORT}/`, { signal: AbortSignal.timeout(5000) });
    return true;
  } catch {
    return false;
  }
}

async function start() {
  const run = runWrangler([
    "dev", ...CONFIG, "--ip", "127.0.0.1", "--port", String(PORT), "--inspector-port", "0",
    "--show-interactive-dev-session=false", "--var", `ORIGIN:${ORIGIN}`,
  ]);
  run.exit.then((code) => {
    if (stopping) return;
    run.show();
    fail(`wrangler dev ended by itself (exit code ${code}).`);
  });
  for (let tries = 0; !(await answers()); tries++) {
    if (stopping) return;
    if (tries === START_SECONDS * 4) {
      run.show();
      return fail(`Penstock did not answer within ${START_SECONDS} s.`);
    }
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  greet();
  run.show([]); // from here on the reader sees requests and rebuilds, not how wrangler started
}

function greet() {
  const at = `http://127.0.0.1:${PORT}`;
  if (FILE !== DEMO) {
    const origin = process.env.ORIGIN ? ORIGIN : `the demo origin at ${ORIGIN}, which stands in for yours (ORIGIN=URL names another)`;
    console.log(`\nPenstock is at ${at}, as ${FILE} says, in front of ${origin}. Ctrl-C stops everything.\n`);
    return;
  }
  console.log(`
Penstock is at ${at}, in front of ${process.env.ORIGIN ? ORIGIN : `the demo origin at ${ORIGIN}`}. Try, in another terminal:

# A request passes; the RateLimit headers say what is left, and the body what the origin was sent.
curl -i ${at}/hello

# Three attempts a minute and address pass; the fourth is a 429 that says when to come back.
for i in 1 2 3; do curl -s -o /dev/null -w '%{http_code} ' -X POST ${at}/login; done; curl -i -X POST ${at}/login; echo

# Three requests a day and key; the fourth has to wait for midnight.
for i in 1 2 3; do curl -s -o /dev/null -w '%{http_code} ' -H 'X-Api-Key: demo' ${at}/reports/today; done; curl -i -H 'X-Api-Key: demo' ${at}/reports/today; echo

Edits under src/ are rebuilt as you save them. Ctrl-C stops everything.
`);
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => stop(0));

console.log("Starting (a few seconds).");
await assertFree(PORT, "PORT");
if (!process.env.ORIGIN) {
  await startOrigin(ORIGIN_PORT).catch((error) =>
    fail(`Port ${ORIGIN_PORT}, the demo origin's, cannot be used (${error.code}). Choose another: make dev ORIGIN_PORT=${ORIGIN_PORT + 1}`),
  );
}
await migrate();
await start();
