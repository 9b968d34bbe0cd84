// The variants that are compared: each one's Worker, its bindings, and what its callers send.
//
// Every limiter has the same job for the caller: count this address (Penstock: the address, the
// key, everyone together, and the key's day), and pass the request on to the origin.

const ADDRESS = "198.51.100.7";
const KEY = "benchmark-key";

/** More than anything here can reach, for the runs that measure speed. */
const PLENTY = { LIMIT: 1_000_000_000, PERIOD: 60 };

/** All four kinds of limits on one request, none of them ever reached. */
export const FOUR_LIMITS = {
  LIMIT_BASE: { per_ip: "60000/s", global: "500000/s" },
  LIMIT_API: { route: "/v1/*", per_key: ["60000/s", "900000000/day"] },
};

const penstock = (vars) => ({
  entry: "build/index.js",
  wasm: true,
  objects: { BUCKETS: { class: "BucketActor", calls: ["fetch", "alarm"] } },
  d1: { DB: "migrations" },
  vars,
});

const rust = (vars = {}) => ({ entry: "bench/passthrough/build/index.js", wasm: true, vars });

const peer = (file, rest = {}) => ({ entry: `bench/workers/${file}.mjs`, ...rest });

/**
 * `role` is what a variant does for its caller: `pass` bounds those that `allow`, `refuse` bounds
 * those that are `refusing`. `limits` says what it enforces, `bucket` that it is a token bucket and
 * no fixed window. `origin: false` leaves `ORIGIN` out. `accept` is what its callers prefer.
 */
export const VARIANTS = [
  { id: "rust", name: "Bare pass-through, Rust", role: "pass", limits: "none", worker: rust() },
  { id: "js", name: "Bare pass-through, JavaScript", role: "pass", limits: "none", worker: peer("passthrough") },
  { id: "penstock", name: "**Penstock, allowed**", role: "allow", limits: "address, key, global, day", bucket: true, worker: penstock(FOUR_LIMITS) },
  {
    id: "object-memory",
    name: "Durable Object per address, in memory",
    role: "allow",
    limits: "address",
    bucket: true,
    worker: peer("object-memory", { objects: { BUCKETS: { class: "Bucket", calls: ["take"] } }, vars: PLENTY }),
  },
  {
    id: "object-sql",
    name: "Durable Object per address, an SQL write each",
    role: "allow",
    limits: "address",
    worker: peer("object-sql", { objects: { WINDOWS: { class: "Window", calls: ["take"] } }, vars: PLENTY }),
  },
  {
    id: "d1",
    name: "One D1 upsert per request",
    role: "allow",
    limits: "address",
    worker: peer("d1", { d1: { DB: "bench/workers" }, vars: PLENTY }),
  },
  {
    id: "ratelimit",
    name: "`ratelimits` binding (emulated)",
    role: "allow",
    limits: "address",
    worker: peer("ratelimit", { ratelimits: "LIMITER", vars: PLENTY }),
  },
  {
    id: "hono",
    name: "hono-rate-limiter, Durable Object store",
    role: "allow",
    limits: "address",
    packages: ["hono", "hono-rate-limiter", "@hono-rate-limiter/cloudflare"],
    worker: peer("hono", { objects: { CACHE: { class: "DurableObjectRateLimiter", calls: ["update", "alarm"] } }, vars: PLENTY }),
  },
  { id: "rust-429", name: "Constant 429, Rust", role: "refuse", limits: "all", origin: false, worker: rust() },
  { id: "js-429", name: "Constant 429, JavaScript", role: "refuse", limits: "all", origin: false, worker: peer("constant") },
  {
    id: "penstock-429",
    name: "**Penstock, refusing**",
    role: "refusing",
    limits: "address",
    worker: penstock({ LIMIT_BASE: { per_ip: "1/h" } }),
  },
  {
    id: "penstock-page",
    name: "**Penstock, refusing**, with the page for people",
    role: "refusing",
    limits: "address",
    accept: "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
    worker: penstock({ LIMIT_BASE: { per_ip: "1/h" } }),
  },
];

/** The limiters: Penstock with the vars `penstock`, the others with the vars `peers`. */
export function limiters({ penstock, peers }) {
  return VARIANTS.filter(({ role }) => role === "allow").map((variant) => {
    const vars = variant.id === "penstock" ? penstock : peers;
    return { ...variant, worker: { ...variant.worker, vars } };
  });
}

/**
 * The limiters, each with the same limit for one address, to see how many each admits: `LIMIT` in
 * `PERIOD` seconds.
 */
export function limited({ LIMIT, PERIOD }) {
  return limiters({ penstock: { LIMIT_BASE: { per_ip: `${LIMIT}/${PERIOD}s` } }, peers: { LIMIT, PERIOD } });
}

/** The bytes of one request. */
export function request({ accept = "application/json" } = {}) {
  return [
    "GET /v1/items?page=2 HTTP/1.1",
    "Host: api.example.com",
    `CF-Connecting-IP: ${ADDRESS}`,
    `X-API-Key: ${KEY}`,
    "User-Agent: benchmark",
    `Accept: ${accept}`,
    "Accept-Encoding: gzip, br",
    "\r\n",
  ].join("\r\n");
}
