// A client that behaves, for browsers, Node and Workers: it waits as long as it is told, and a little longer; it stops in time;
// and it asks no second time for a day that is used up.
//
//   import { fetchPolitely } from "./fetch.mjs";
//   const response = await fetchPolitely("https://api.example.com/v1/items", { method: "POST", body }, { patience: 60_000 });
//
// From a shell: node fetch.mjs URL [SECONDS [BODY]]

/** Refusals that end by themselves soon. Whoever gives one has not passed the request on, so it may be sent again, a POST too. */
const PASSING = new Set(["rate_limited", "over_capacity", "limiter_unavailable"]);

/**
 * `fetch`, that waits where it is refused.
 *
 * @param {number} patience milliseconds after which it does not try again; the refusal is then the answer
 */
export async function fetchPolitely(input, init, { patience = 60_000 } = {}) {
  const end = Date.now() + patience;
  const request = new Request(input, init);
  // A stream can be sent once, so the body is kept here for as long as it may be needed.
  const body = request.body ? await request.arrayBuffer() : undefined;
  for (;;) {
    const response = await fetch(new Request(request.url, { ...options(request), body }));
    const wait = await toWait(response);
    if (wait === undefined || Date.now() + wait > end) return response;
    await response.body?.cancel();
    await sleep(wait, request.signal);
  }
}

/** What of a request is sent again, its body aside. */
function options({ method, headers, credentials, redirect, signal, cache, mode, referrerPolicy }) {
  return { method, headers, redirect, signal, ...(typeof window === "object" && { credentials, cache, mode, referrerPolicy }) };
}

/** How many milliseconds until the request is worth sending again; undefined where it is not. */
async function toWait(response) {
  const seconds = Number(response.headers.get("retry-after"));
  if (response.ok || !(seconds > 0)) return undefined;
  if (!/^application\/problem\+json\b/.test(response.headers.get("content-type") ?? "")) return undefined;
  const { reason } = await response.clone().json();
  if (!PASSING.has(reason)) return undefined;
  // Up to a tenth more, a second at least: others were told the same time.
  return 1000 * (seconds + Math.random() * Math.max(1, seconds / 10));
}

function sleep(ms, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => (clearTimeout(timer), reject(signal.reason)), { once: true });
  });
}

if (globalThis.process?.argv[1] === import.meta.filename) {
  const [url, seconds = "60", body] = process.argv.slice(2);
  const response = await fetchPolitely(url, body === undefined ? {} : { method: "POST", body }, { patience: 1000 * seconds });
  console.log(response.status, await response.text());
}
