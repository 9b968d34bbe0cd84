// A configuration with a fault: no request is forwarded, and the logs say where the fault is.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { count, parallel, problem, ROOT, start, until } from "./harness/index.mjs";

/**
 * Starts an edge with these vars, and asserts that it forwards no request and logs each of
 * `places`.
 */
async function misconfigured(t, vars, places) {
  const edge = await start(t, { vars });
  for (const answer of await parallel(3, (index) => edge.get(["/login", "/", "/healthz"][index], { ip: "203.0.113.7" }))) {
    problem(answer, { status: 500, reason: "misconfigured" });
  }
  assert.equal(edge.origin.count, 0, "no request is forwarded");
  assert.equal((await edge.asked()).calls, 0);
  const logged = () => edge.logs.map(({ message }) => message).join("\n");
  for (const place of places) {
    await until(() => logged().includes(place)).catch(() => assert.fail(`${place} is not in:\n${logged()}`));
  }
}

const login = (fields) => ({ LIMIT_LOGIN: { route: "POST /login", per_ip: "5/min", ...fields } });

const faulty = {
  "CFG-01: an unknown field": [login({ limt: 5 }), ["LIMIT_LOGIN.limt"]],
  "CFG-01: a field in another case": [login({ Per_ip: "5/min" }), ["LIMIT_LOGIN.Per_ip"]],
  "CFG-01: an unknown unit": [login({ per_ip: "5/minn" }), ["LIMIT_LOGIN.per_ip"]],
  "CFG-03: one route in two bindings": [{ ...login(), LIMIT_OTHER: { route: "POST /login", per_ip: "9/min" } }, ["POST /login"]],
  "CFG-03: one route in two spellings": [{ ...login(), LIMIT_OTHER: { route: "POST /%6Cogin/", per_ip: "9/min" } }, ["LIMIT_OTHER"]],
  "CFG-04: a route that can match no request": [login({ route: "^/api" }), ["LIMIT_LOGIN.route"]],
  "CFG-04: a key location without a name": [{ ...login(), KEY: "header:" }, ["KEY"]],
  "CFG-04: a binding without a route": [{ LIMIT_LOGIN: { per_ip: "5/min" } }, ["LIMIT_LOGIN.route"]],
  "GCR-02: a burst of zero": [login({ per_ip: "5/min burst 0" }), ["LIMIT_LOGIN.per_ip"]],
  "GCR-02: a count of zero": [login({ per_ip: "0/min" }), ["LIMIT_LOGIN.per_ip"]],
  "GCR-02: a period of zero": [login({ per_ip: "5/0s" }), ["LIMIT_LOGIN.per_ip"]],
  "GCR-02: a negative count": [login({ per_ip: "-5/min" }), ["LIMIT_LOGIN.per_ip"]],
  "GCR-02: a count that is no number": [login({ per_ip: "NaN/min" }), ["LIMIT_LOGIN.per_ip"]],
  "GCR-02: a daily count of zero": [login({ per_ip: "0/day" }), ["LIMIT_LOGIN.per_ip"]],
  "GCR-03: a cost above the burst": [login({ per_ip: "10/min", cost: 11 }), ["LIMIT_LOGIN"]],
  "a cost of zero": [login({ cost: 0 }), ["LIMIT_LOGIN.cost"]],
  "an unknown mode": [login({ mode: "shaddow" }), ["LIMIT_LOGIN.mode"]],
  "an unknown on_error": [login({ on_error: "ignore" }), ["LIMIT_LOGIN.on_error"]],
  "an unknown time zone": [login({ per_ip: "5/day Europe/Atlantis" }), ["LIMIT_LOGIN.per_ip"]],
  "a binding that is no table": [{ LIMIT_LOGIN: "5/min" }, ["LIMIT_LOGIN"]],
  "an ORIGIN that is no URL": [{ ...login(), ORIGIN: "origin.example.com" }, ["ORIGIN"]],
  "an unknown HEADERS": [{ ...login(), HEADERS: "draft-99" }, ["HEADERS"]],
  "several faults together": [
    { ...login({ limt: 5, per_ip: "5/minn" }), LIMIT_OTHER: { route: "/x", cost: 0 }, KEY: "header:" },
    ["LIMIT_LOGIN.limt", "LIMIT_LOGIN.per_ip", "LIMIT_OTHER.cost", "KEY"],
  ],
};

for (const [name, [vars, places]] of Object.entries(faulty)) {
  test(`${name} is a fault, and the logs name its place`, (t) => misconfigured(t, vars, places));
}

test("a binding that is a JSON text, as a dashboard or a secret holds it, works", async (t) => {
  const edge = await start(t, { vars: { LIMIT_LOGIN: JSON.stringify({ route: "/login", per_ip: "1/min" }) } });
  assert.equal((await edge.get("/login", { ip: "203.0.113.7" })).status, 200);
  assert.equal((await edge.get("/login", { ip: "203.0.113.7" })).status, 429);
});

test("without bindings every request is forwarded", async (t) => {
  const edge = await start(t);
  assert.equal((await edge.get("/", { ip: "203.0.113.7" })).status, 200);
  assert.equal((await edge.asked()).calls, 0);
});

/** The lines about a broken configuration. */
const misconfiguredLines = (edge) => edge.records.filter(({ event }) => event === "misconfigured");

const blocked = { BLOCK: "203.0.113.8", LIMIT_BASE: { per_ip: "1/min", global: "1/min", in_flight: 1 } };

test("a broken configuration that is open forwards without limits, and BLOCK still holds", async (t) => {
  const edge = await start(t, { vars: { ...login({ per_ip: "5/minn" }), ...blocked, MISCONFIGURED: "open" } });
  const answers = await parallel(20, (index) => edge.post(["/login", "/"][index % 2], { ip: "203.0.113.7" }));
  assert.equal(count(answers, 200), 20);
  assert.equal(edge.origin.count, 20);
  assert.equal((await edge.asked()).calls, 0);
  problem(await edge.get("/", { ip: "203.0.113.8" }), { status: 403, reason: "blocked" });
  await until(() => misconfiguredLines(edge).length > 0);
  assert.match(misconfiguredLines(edge)[0].problem, /^requests pass without limits; LIMIT_LOGIN\.per_ip: "5\/minn"/);
});

test("a broken configuration whose ORIGIN cannot be read is closed, whatever MISCONFIGURED says", async (t) => {
  const edge = await start(t, { vars: { ...blocked, ORIGIN: "origin.example.com", MISCONFIGURED: "open" }, outbound: true });
  problem(await edge.get("/", { ip: "203.0.113.7" }), { status: 500, reason: "misconfigured" });
  assert.equal(edge.origin.count, 0);
  await until(() => misconfiguredLines(edge).length > 0);
  assert.match(misconfiguredLines(edge)[0].problem, /^every request is refused; ORIGIN: /);
});

test("a broken configuration in front of a zone has no ORIGIN to read, and may be open", async (t) => {
  const edge = await start(t, { vars: { ...login({ limt: 5 }), ORIGIN: null, MISCONFIGURED: "open" }, outbound: true });
  assert.equal((await edge.get("/", { ip: "203.0.113.7" })).status, 200);
  assert.equal(edge.origin.count, 1);
});

test("a MISCONFIGURED that cannot be read is closed", async (t) => {
  const edge = await start(t, { vars: { MISCONFIGURED: "opne" } });
  problem(await edge.get("/", { ip: "203.0.113.7" }), { status: 500, reason: "misconfigured" });
});

test("a broken configuration is logged once per isolate and interval, not per request", async (t) => {
  const edge = await start(t, { vars: login({ limt: 5 }) });
  await parallel(30, () => edge.get("/", { ip: "203.0.113.7" }));
  await until(() => misconfiguredLines(edge).length > 0);
  assert.equal(misconfiguredLines(edge).length, 1);
  await edge.advance(11_000);
  await parallel(30, () => edge.get("/", { ip: "203.0.113.7" }));
  await until(() => misconfiguredLines(edge).length > 1);
  assert.equal(misconfiguredLines(edge).length, 2);
});

test("vars that are nearly ours are warned of, and take nothing down", async (t) => {
  const near = { LIMT_LOGIN: { per_ip: "1/min" }, ALLOWED: "203.0.113.7", TIMEOUT: "1s", x: { LIMIT_Y: { per_ip: "1/min" } } };
  const edge = await start(t, { vars: { ...near, BUCKET: "b", COLOR: "blue" } });
  for (let time = 0; time < 5; time++) assert.equal((await edge.post("/login", { ip: "203.0.113.7" })).status, 200);
  await until(() => edge.records.length >= 4);
  assert.deepEqual(edge.records.map(({ event, place }) => `${event} ${place}`).sort(), Object.keys(near).map((name) => `warning ${name}`).sort());
});

test("SEC-01: a SECRET that can be guessed is warned of once, without a word of it", async (t) => {
  const edge = await start(t, { vars: { SECRET: "hunter2-hunter2" } });
  for (let time = 0; time < 5; time++) assert.equal((await edge.get("/", { ip: "203.0.113.7" })).status, 200);
  await until(() => edge.records.length > 0);
  assert.deepEqual(edge.records.map(({ event, place }) => [event, place]), [["warning", "SECRET"]]);
  assert.ok(!edge.logs.some(({ message }) => message.includes("hunter2")));
  await edge.redeploy({ SECRET: "0123456789abcdef0123456789abcdef" });
  edge.logs.length = 0;
  await edge.get("/", { ip: "203.0.113.7" });
  assert.equal(edge.logs.length, 0);
});

test("CF-01: the shipped configuration has no workers.dev or preview address", async () => {
  const shipped = await readFile(`${ROOT}/wrangler.toml`, "utf8");
  assert.match(shipped, /^workers_dev = false$/m);
  assert.match(shipped, /^preview_urls = false$/m);
});
