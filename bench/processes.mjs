// The origin and the callers, as processes of their own, so that the two share no event loop with each other or with us.
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

const started = [];

function run(file) {
  const child = fork(join(import.meta.dirname, file));
  started.push(child);
  return child;
}

/** Starts the origin and says where it is. */
export async function origin() {
  const [url] = await once(run("origin.mjs"), "message");
  return url;
}

/** Starts an origin that takes `ms` for each answer and counts: its URL, and a function that says what it has counted and begins anew. */
export async function slowOrigin(ms) {
  const child = run("slow-origin.mjs");
  child.send({ ms });
  const [url] = await once(child, "message");
  const counted = async () => {
    child.send({});
    return (await once(child, "message"))[0];
  };
  return { url, counted };
}

/** Starts the callers: a function that runs one order (see load.mjs) and says what came of it. */
export function callers() {
  const child = run("load.mjs");
  return async ({ urls, ...order }) => {
    const targets = urls.map((url) => ({ host: url.hostname, port: Number(url.port) }));
    child.send({ ...order, targets });
    const [{ done, error }] = await once(child, "message");
    if (error) throw new Error(`the callers: ${error}`);
    return done;
  };
}

export function stop() {
  for (const child of started.splice(0)) child.disconnect();
}
