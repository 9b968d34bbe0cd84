// Thousands of hostile requests on raw connections, with ordinary ones beside them. PENSTOCK_SEED
// repeats a run, PENSTOCK_FUZZ sets its length.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Lane } from "./harness/lane.mjs";
import { count, parallel, problem, Random, rawRequest, start } from "./harness/index.mjs";

const REQUESTS = Number(process.env.PENSTOCK_FUZZ ?? 20_000);
const LANES = 16;

const METHODS = ["GET", "GET", "GET", "POST", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "PROPFIND", "PURGE", "TRACE"];
const ODD_METHODS = ["get", "G\x80T", "M-SEARCH", "*", "", "GET GET", "X".repeat(5000)];
const SEGMENTS = [
  ...["login", "api", "v1", "me", "..", ".", "%2e", "%2E%2e", "%2F", "%5c", "%00", "%zz", "%", "%c3%28", "%ff", "%C3%A9", "%25%32%46"],
  ...["", ";a=b", ":id", "*", "\\", "~", "%6Cogin", "LOGIN", "@", "?", "&", "=", "'", "!$&'()*+,;=:@", "%".repeat(50), "a".repeat(3000)],
];
const HEADERS = [
  ...["X-API-Key", "X-API-Key", "Authorization", "Cookie", "CF-Connecting-IP", "CF-Connecting-IPv6", "CF-Worker", "CF-Ray", "X-Forwarded-For"],
  ...["User-Agent", "Origin", "Accept", "Content-Type", "Range", "If-None-Match", "RateLimit", "CDN-Loop", "Via", "Expect", "Accept-Encoding"],
  ...["penstock-hop", "penstock-ask", "penstock-reply", "X-HTTP-Method-Override"],
];
const VALUES = [
  ...["", " ", "a", "Bearer ", "Bearer \x80\xff", "bearer  x", "session=", 'session="a', "=;=;;", "a,b", "\t x \t", "*", "%00", "{}"],
  ...["::1", "::", "2001:db8::1%eth0", "203.0.113.7", "999.1.1.1", "2a06:98c0:3600::103", "240.0.0.1", "1.2.3.4, 5.6.7.8", "::ffff:1.2.3.4"],
  ...["\xff\xfe", "\xc3\x28", "\xc3\xa9", "-1", "18446744073709551616", "NaN", "100-continue", "bytes=0-0", "cloudflare"],
];
const HOSTS = ["", "SHOP.example.", "[::1]:80", "x:99999", "\xe9.example", "..", "a b", "127.0.0.1", "%2e", "shop.example:", "a".repeat(300)];
const CF = ["{}", '{"colo":7}', '{"colo":""}', '{"colo":"FRA"}', '{"colo":"\\u00e9"}'];

function target(random) {
  const odd = random.below(20) === 0;
  const [first, last] = odd ? [0x21, 0xff] : [0x61, 0x7a];
  const segment = () => (random.below(4) ? random.pick(SEGMENTS) : random.text(random.below(12), first, last));
  const path = Array.from({ length: random.below(6) }, () => `/${segment()}`).join("");
  const query = random.below(2) ? `?api_key=${segment()}&${segment()}` : "";
  const form = odd ? random.pick(["http://shop.example", "//", "http://[::1", "*", "x"]) : "";
  return `${form}${path || "/"}${query}`;
}

function hostile(random) {
  const headers = Array.from({ length: random.below(8) }, () => [
    random.below(12) ? random.pick(HEADERS) : random.text(1 + random.below(10), 0x61, 0x7a),
    random.below(3) ? random.pick(VALUES) : random.text(random.below(random.below(50) ? 60 : 9000), 0x20, random.below(2) ? 0x7e : 0xff),
  ]);
  if (random.below(2)) headers.push(["CF-Connecting-IP", `203.0.113.${random.below(3)}`]);
  // The platform writes this header, so it is always JSON, though it may lack members.
  if (random.below(3) === 0) headers.push(["mf-cf-blob", random.pick(CF)]);
  const method = random.below(50) ? random.pick(METHODS) : random.pick(ODD_METHODS);
  const host = random.below(30) ? random.pick(["shop.example", "a.tenant.example"]) : random.pick(HOSTS);
  const body = random.below(5) ? undefined : Buffer.from(random.text(random.below(200), 0, 255), "latin1");
  return { method, target: target(random), host, headers, body };
}

const REFUSALS = ["rate_limited", "quota_exhausted", "over_capacity", "limiter_unavailable"];

/** The kind of an answer; fails where it is none of those that a hostile request may get. */
function judge(answer, request) {
  const told = () => `${answer.status} ${answer.text.slice(0, 300)} to ${JSON.stringify(request).slice(0, 2000)}`;
  if (answer.status === 200 && answer.headers["x-origin"] === "yes") return "origin";
  if (answer.headers["content-type"]?.startsWith("application/problem+json")) {
    // A Host that makes no URL leads to no origin.
    if (answer.status === 502 && !URL.canParse(`http://${request.host}/`)) return "no host";
    assert.ok([429, 503].includes(answer.status), told());
    if (request.method !== "HEAD") assert.ok(REFUSALS.includes(problem(answer).reason), told());
    return "refused";
  }
  if ([400, 413, 414, 417, 431, 501].includes(answer.status)) return "not HTTP";
  return assert.fail(told());
}

test(`CF-04: ${REQUESTS} hostile requests meet no panic`, async (t) => {
  const seed = Random.seed();
  t.diagnostic(`PENSTOCK_SEED=${seed}`);
  const vars = {
    KEY: "header:x-api-key, bearer, cookie:session, query:api_key",
    LIMIT_BASE: { per_ip: "1500/min", global: "100000/s" },
    LIMIT_LOGIN: { route: "/login", per_ip: "10/min", per_key: "50/min" },
    LIMIT_API: { route: ["/api/*", "*.tenant.example/*"], per_key: "1000/min", per_ip: "1000/min" },
    LIMIT_USER: { route: "GET,POST /v1/:id", per_key: ["10/s", "1000/day"] },
  };
  const edge = await start(t, { vars });
  edge.origin.plain = { "x-origin": "yes" };
  const tally = {};
  const lanes = Array.from({ length: LANES }, (_, index) => ({ lane: new Lane(edge.url()), random: new Random(seed + index) }));
  const storm = lanes.map(async ({ lane, random }) => {
    for (let sent = 0; sent < REQUESTS / LANES; sent++) {
      const request = hostile(random);
      const kind = judge(await lane.send(rawRequest(request), request.method), request);
      tally[kind] = (tally[kind] ?? 0) + 1;
    }
    lane.close();
  });
  const beside = (async () => {
    const answers = [];
    for (let wave = 0; wave < 10; wave++) {
      answers.push(...(await parallel(10, (index) => edge.get("/fine", { ip: `192.0.2.${wave * 10 + index}` }))));
    }
    return answers;
  })();
  await Promise.all(storm);
  assert.equal(count(await beside, 200), 100);
  const afterwards = await parallel(100, (index) => edge.get("/fine", { ip: `198.51.100.${index}` }));
  assert.equal(count(afterwards, 200), 100, "ordinary requests after the storm");
  t.diagnostic(JSON.stringify(tally));
  const parsed = tally.origin + tally.refused;
  assert.ok(parsed > REQUESTS / 2 && tally.refused > 100, `few requests pass the runtime's parser: ${JSON.stringify(tally)}`);
  const panic = /panicked|unreachable|RuntimeError|Critical|Reinitializing|uncaught|"place":"request"/i;
  assert.deepEqual(edge.logs.filter(({ message }) => panic.test(message)).slice(0, 3), []);
});
