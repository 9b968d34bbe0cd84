// The caller that a request is counted for: its address, which only Cloudflare can vouch for, and
// its key, which any client can claim.
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { count, inTurn, parallel, rawRequest, refusal, sendRaw, start } from "./harness/index.mjs";

const vars = {
  KEY: "header:x-api-key, bearer, token, query:api_key, cookie:session",
  LIMIT_IP: { route: "/ip", per_ip: "5/min" },
  LIMIT_BOTH: { route: "/both", per_ip: "20/min", per_key: "5/min" },
  LIMIT_KEY: { route: "/key", per_key: "1/min" },
  LIMIT_OWN: { route: "/own", per_key: "1/min", key: "header:x-own" },
};
const edge = await start({ after }, { vars });

/**
 * Begins a test with full buckets: an hour after the test before it, where no period is that long.
 */
const later = () => edge.newCaller();

const passing = async (n, make) => count(await parallel(n, make), 200);

for (const name of ["X-Forwarded-For", "X-Real-IP", "True-Client-IP", "Forwarded", "X-Client-IP", "CF-Connecting-IPv6", "CF-Pseudo-IPv4"]) {
  test(`IP-01: a client that rotates ${name} is counted by its real address`, async () => {
    await later();
    const value = (ip) => (name === "Forwarded" ? `for=${ip}` : ip);
    const spoof = (index) => [[name, value(index < 10 ? "198.51.100.9" : `198.51.100.${100 + index}`)]];
    await parallel(20, (index) => edge.get("/ip", { ip: "203.0.113.7", headers: spoof(index) }));
    assert.equal(edge.origin.count, 5);
    assert.equal((await edge.get("/ip", { ip: "198.51.100.9" })).status, 200, "the victim is unharmed");
  });
}

test("IP-04: the addresses of one IPv6 /64 are one caller, and the next /64 is another", async () => {
  await later();
  assert.equal(await passing(20, (index) => edge.get("/ip", { ip: `2001:db8:1:2::${(index + 1).toString(16)}` })), 5);
  assert.equal((await edge.get("/ip", { ip: "2001:db8:1:3::1" })).status, 200);
});

test("IPV6_PREFIX sets how much of an IPv6 address is one caller", async (t) => {
  for (const [IPV6_PREFIX, passes] of [[48, 5], [56, 10], [128, 20]]) {
    const edge = await start(t, { vars: { IPV6_PREFIX, LIMIT_X: { route: "/x", per_ip: "5/min" } } });
    const addresses = ["2001:db8:1:100::1", "2001:db8:1:100::2", "2001:db8:1:200::1", "2001:db8:1:200::2"];
    const answers = await parallel(40, (index) => edge.get("/x", { ip: addresses[index % 4] }));
    assert.equal(count(answers, 200), passes, `/${IPV6_PREFIX}`);
  }
});

test("a request through Pseudo IPv4 is counted by its IPv6 address", async () => {
  await later();
  const get = (real) => edge.get("/ip", { ip: "240.16.0.1", headers: [["CF-Connecting-IPv6", real]] });
  assert.equal(await passing(20, (index) => get(`2001:db8:1:2::${index + 1}`)), 5);
  assert.equal((await get("2001:db8:1:3::1")).status, 200);
});

test("IP-05: all spellings of one IPv6 address share a bucket", async () => {
  await later();
  const spellings = ["2001:db8::a:b", "2001:0DB8:0:0::A:B", "2001:db8:0:0:0:0:a:b", "2001:DB8::000a:000b"];
  assert.equal(await passing(20, (index) => edge.get("/ip", { ip: spellings[index % 4] })), 5);
});

test("IP-05: an IPv4 address and its IPv6-mapped form share a bucket", async () => {
  await later();
  const spellings = ["203.0.113.7", "::ffff:203.0.113.7", "::FFFF:cb00:7107"];
  assert.equal(await passing(20, (index) => edge.get("/ip", { ip: spellings[index % 3] })), 5);
  assert.equal((await edge.get("/ip", { ip: "::ffff:203.0.113.8" })).status, 200);
});

test("IP-09: requests without an address share one bucket", async () => {
  await later();
  const answers = await parallel(50, () => edge.get("/ip"));
  assert.equal(count(answers, 200), 5);
  assert.equal(count(answers, 429), 45);
  assert.equal((await edge.get("/ip", { ip: "203.0.113.7" })).status, 200);
});

test("IP-09: a request whose address cannot be read counts as one without an address", async () => {
  await later();
  const nonsense = ["unknown", "203.0.113", "203.0.113.256", "::g", "fe80::1%eth0", "203.0.113.7, 198.51.100.9", "a".repeat(300), " "];
  const answers = await inTurn(40, (index) => edge.get("/ip", { ip: `${nonsense[index % nonsense.length]}` }));
  assert.equal(count(answers, 200), 5);
  assert.equal(count(answers, 429), 35);
});

test("IP-11: requests of other zones' Workers are counted by zone", async () => {
  await later();
  const from = (zone) => edge.get("/ip", { ip: "2a06:98c0:3600::103", headers: [["CF-Worker", zone]] });
  assert.equal(await passing(20, () => from("a.example")), 5);
  assert.equal(await passing(20, () => from("b.example")), 5);
  await later();
  const claim = (index) => edge.get("/ip", { ip: "203.0.113.7", headers: [["CF-Worker", `${index}.example`]] });
  assert.equal(await passing(20, claim), 5, "for any other address the header says nothing");
});

test("KEY-01: a client with a new key for each request stays within its address's limit", async () => {
  await later();
  await parallel(100, (index) => edge.get("/both", { ip: "203.0.113.7", key: `random-${index}` }));
  assert.equal(edge.origin.count, 20);
});

test("KEY-01: a key is counted across all addresses that use it", async () => {
  await later();
  await parallel(40, (index) => edge.get("/both", { ip: `203.0.113.${index}`, key: "shared" }));
  assert.equal(edge.origin.count, 5);
});

test("KEY-03: a request with a blank key counts as one without a key", async () => {
  await later();
  const blanks = [[["X-API-Key", ""]], [["X-API-Key", "  "]], [["Authorization", "Bearer "]], [["Authorization", "Bearer"]], []];
  for (const headers of blanks) {
    const answers = await inTurn(3, () => edge.get("/key", { headers }));
    assert.equal(count(answers, 200), 3, JSON.stringify(headers));
  }
});

test("KEY-03: a token is a key as a bearer token is, and a blank one is none", async () => {
  await later();
  const get = (authorization) => edge.get("/key", { headers: [["authorization", authorization]] });
  const statuses = async (...sent) => (await inTurn(sent.length, (index) => get(sent[index]))).map(({ status }) => status);
  assert.deepEqual(await statuses("token t1", "Token   t1 ", "Bearer t1", "Token T1"), [200, 429, 429, 200]);
  assert.deepEqual(await statuses("Token ", "token", "Tokent1", "Basic t1", "Token "), [200, 200, 200, 200, 200], "no key, no limit");
});

test("KEY-03: padding leaves a key the same, and another case makes another key", async () => {
  await later();
  const get = (name, value) => edge.get("/key", { headers: [[name, value]] });
  assert.equal((await get("X-API-Key", "abc")).status, 200);
  refusal(await get("x-api-key", "   abc  "), { limit: "key/key" }, edge.at);
  assert.equal((await get("X-API-Key", "ABC")).status, 200);
  assert.equal((await get("Authorization", "Bearer token")).status, 200);
  for (const value of ["Bearer   token ", "bearer token", "BEARER token"]) refusal(await get("Authorization", value));
  assert.equal((await get("Authorization", "Basic token")).status, 200, "another scheme is no bearer");
});

test("a key in the query or in a cookie is counted", async () => {
  await later();
  const query = (text) => edge.get(`/key?${text}`);
  assert.equal((await query("api_key=q1")).status, 200);
  assert.equal((await query("a=b&api_key=q1")).status, 429);
  assert.equal((await query("API_KEY=q1")).status, 200, "another name");
  const cookie = (text) => edge.get("/key", { headers: [["Cookie", text]] });
  assert.equal((await cookie("session=c1")).status, 200);
  assert.equal((await cookie("theme=dark; session=c1; x=y")).status, 429);
  assert.equal((await cookie("xsession=c1")).status, 200, "another name");
});

test("a binding with a key location of its own reads keys there alone", async () => {
  await later();
  const get = (name) => edge.get("/own", { headers: [[name, "mine"]] });
  assert.equal((await get("X-Own")).status, 200);
  assert.equal((await get("X-Own")).status, 429);
  assert.equal(count(await inTurn(3, () => get("X-API-Key")), 200), 3);
});

test("KEY-04: high bytes in a key, a cookie or a user agent harm no other request", async () => {
  await later();
  const high = Array.from({ length: 128 }, (_, index) => String.fromCharCode(128 + index)).join("");
  const odd = parallel(100, (index) => {
    const headers = [["X-API-Key", index + high], ["User-Agent", high], ["Cookie", `a=${high}; session=${high}`]];
    return sendRaw(edge.url(), rawRequest({ target: "/both", headers: [...headers, ["CF-Connecting-IP", `198.51.100.${index}`]] }));
  });
  const ordinary = parallel(50, (index) => edge.get("/both", { ip: `203.0.113.${index}`, key: `ordinary-${index}` }));
  for (const { status } of await odd) assert.ok(status === 200 || status === 400, `${status}`);
  assert.equal(count(await ordinary, 200), 50);
});

test("KEY-05: long keys differ up to the last byte and have short names in storage", async () => {
  await later();
  const long = (last) => `${"k".repeat(8000)}${last}${"z".repeat(191)}`;
  assert.equal((await edge.get("/key", { key: long("a") })).status, 200);
  assert.equal((await edge.get("/key", { key: long("b") })).status, 200);
  assert.equal((await edge.get("/key", { key: long("a") })).status, 429);
  const objects = await edge.objects();
  assert.ok(objects.length > 0);
  for (const object of objects) {
    assert.ok(object.name.length <= 100, object.name);
    assert.ok(!/kkkk/.test(JSON.stringify(object)));
  }
});

test("KEY-07: a request with two keys is counted for the first", async () => {
  await later();
  const get = (...keys) => edge.get("/key", { headers: keys.map((key) => ["X-API-Key", key]) });
  for (const key of ["A", "B", "C"]) assert.equal((await get(key)).status, 200);
  assert.equal((await get("A", "B")).status, 429);
  assert.equal((await get("B", "C")).status, 429);
  assert.equal((await get("C", "A")).status, 429);
});

test("SEC-01: neither storage nor logs contain a key or an address", async (t) => {
  const key = "sk_live_5c3e7a1fNOWHERE";
  const ip = "198.51.100.213";
  const vars = {
    SECRET: "a secret of the deployment",
    LIMIT_API: { route: "/v1/*", per_ip: "50/min", per_key: ["3/h", "100/day"], global: "100/h" },
    LIMIT_SHADOW: { route: "/s", per_key: "1/h", mode: "shadow" },
    LIMIT_FAILS: { route: "/fails", per_key: ["100/h burst 2", "100/day"] },
  };
  const edge = await start(t, { vars });
  await inTurn(6, () => edge.get("/v1/x", { ip, key }));
  await inTurn(3, () => edge.get("/s", { ip, key }));
  await edge.fail({ d1: { kind: "throw" } });
  await edge.get("/fails", { ip, key });
  await edge.fail({ d1: null, actor: { kind: "throw", times: 2 } });
  await inTurn(3, () => edge.get("/fails", { ip, key }));
  await edge.fail({ actor: null });
  const spellings = [key, Buffer.from(key).toString("hex"), Buffer.from(key).toString("base64").replace(/=+$/, ""), ip];
  const dumps = {
    objects: JSON.stringify(await edge.objects()),
    d1: JSON.stringify(await edge.d1("SELECT * FROM quota")),
    logs: JSON.stringify(edge.logs),
  };
  assert.ok(edge.logs.length > 0 && dumps.d1.length > 2, "logs and D1 have content");
  await edge.stop();
  for (const file of await readdir(edge.state, { recursive: true, withFileTypes: true })) {
    if (file.isFile()) dumps[file.name] = (await readFile(join(file.parentPath, file.name))).toString("latin1");
  }
  assert.ok(Object.keys(dumps).some((name) => name.endsWith(".sqlite")), `databases among ${Object.keys(dumps)}`);
  for (const [where, text] of Object.entries(dumps)) {
    for (const spelling of spellings) assert.ok(!text.toLowerCase().includes(spelling.toLowerCase()), `${spelling} in ${where}`);
  }
});

test("a caller has another name in storage under another SECRET", async (t) => {
  const subjects = [];
  for (const SECRET of ["one", "two", null]) {
    const edge = await start(t, { vars: { SECRET, LIMIT_API: { route: "/v1", per_key: "9/day" } } });
    await edge.get("/v1", { key: "k" });
    subjects.push((await edge.d1("SELECT subject FROM quota"))[0].subject);
  }
  assert.equal(new Set(subjects).size, 3);
});
