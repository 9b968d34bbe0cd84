// Who is counted: addresses that only Cloudflare can vouch for, and keys that anybody can claim.
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { count, HOUR, inTurn, NOON, parallel, rawRequest, refusal, sendRaw, start } from "./harness/index.mjs";

let edge;
const late = [];
before(async () => {
  const vars = {
    KEY: "header:x-api-key, bearer, query:api_key, cookie:session",
    LIMIT_IP: { route: "/ip", per_ip: "5/min" },
    LIMIT_BOTH: { route: "/both", per_ip: "20/min", per_key: "5/min" },
    LIMIT_KEY: { route: "/key", per_key: "1/min" },
    LIMIT_OWN: { route: "/own", per_key: "1/min", key: "header:x-own" },
  };
  edge = await start({ after: (stop) => late.push(stop) }, { vars });
});
after(() => Promise.all(late.map((stop) => stop())));

let tests = 0;
async function later() {
  tests += 1;
  await edge.freeze(NOON + tests * HOUR);
  edge.origin.forget();
}

const passing = async (n, make) => count(await parallel(n, make), 200);

for (const name of ["X-Forwarded-For", "X-Real-IP", "True-Client-IP", "Forwarded", "X-Client-IP", "CF-Connecting-IPv6", "CF-Pseudo-IPv4"]) {
  test(`ip_01_a_rotating_${name}_is_the_client's_own_text`, async () => {
    await later();
    const value = (ip) => (name === "Forwarded" ? `for=${ip}` : ip);
    const spoof = (index) => [[name, value(index < 10 ? "198.51.100.9" : `198.51.100.${100 + index}`)]];
    await parallel(20, (index) => edge.get("/ip", { ip: "203.0.113.7", headers: spoof(index) }));
    assert.equal(edge.origin.count, 5);
    assert.equal((await edge.get("/ip", { ip: "198.51.100.9" })).status, 200, "the victim is unharmed");
  });
}

test("ip_04_a_64_is_one_caller_and_its_neighbour_another", async () => {
  await later();
  assert.equal(await passing(20, (index) => edge.get("/ip", { ip: `2001:db8:1:2::${(index + 1).toString(16)}` })), 5);
  assert.equal((await edge.get("/ip", { ip: "2001:db8:1:3::1" })).status, 200);
});

test("IPV6_PREFIX says how much of an address is one caller", async (t) => {
  for (const [IPV6_PREFIX, passes] of [[48, 5], [56, 10], [128, 20]]) {
    const edge = await start(t, { vars: { IPV6_PREFIX, LIMIT_X: { route: "/x", per_ip: "5/min" } } });
    const addresses = ["2001:db8:1:100::1", "2001:db8:1:100::2", "2001:db8:1:200::1", "2001:db8:1:200::2"];
    const answers = await parallel(40, (index) => edge.get("/x", { ip: addresses[index % 4] }));
    assert.equal(count(answers, 200), passes, `/${IPV6_PREFIX}`);
  }
});

test("an address behind Pseudo IPv4 is the IPv6 address it stands for", async () => {
  await later();
  const get = (real) => edge.get("/ip", { ip: "240.16.0.1", headers: [["CF-Connecting-IPv6", real]] });
  assert.equal(await passing(20, (index) => get(`2001:db8:1:2::${index + 1}`)), 5);
  assert.equal((await get("2001:db8:1:3::1")).status, 200);
});

test("ip_05_spellings_of_one_address_share_a_bucket", async () => {
  await later();
  const spellings = ["2001:db8::a:b", "2001:0DB8:0:0::A:B", "2001:db8:0:0:0:0:a:b", "2001:DB8::000a:000b"];
  assert.equal(await passing(20, (index) => edge.get("/ip", { ip: spellings[index % 4] })), 5);
});

test("ip_05_an_ipv4_address_in_ipv6_dress_is_that_ipv4_address", async () => {
  await later();
  const spellings = ["203.0.113.7", "::ffff:203.0.113.7", "::FFFF:cb00:7107"];
  assert.equal(await passing(20, (index) => edge.get("/ip", { ip: spellings[index % 3] })), 5);
  assert.equal((await edge.get("/ip", { ip: "::ffff:203.0.113.8" })).status, 200);
});

test("ip_09_requests_without_an_address_share_one_bucket", async () => {
  await later();
  const answers = await parallel(50, () => edge.get("/ip"));
  assert.equal(count(answers, 200), 5);
  assert.equal(count(answers, 429), 45);
  assert.equal((await edge.get("/ip", { ip: "203.0.113.7" })).status, 200);
});

test("ip_09_nonsense_for_an_address_is_no_address", async () => {
  await later();
  const nonsense = ["unknown", "203.0.113", "203.0.113.256", "::g", "fe80::1%eth0", "203.0.113.7, 198.51.100.9", "a".repeat(300), " "];
  const answers = await inTurn(40, (index) => edge.get("/ip", { ip: `${nonsense[index % nonsense.length]}` }));
  assert.equal(count(answers, 200), 5);
  assert.equal(count(answers, 429), 35);
});

test("ip_11_workers_of_another_zone_are_counted_by_zone", async () => {
  await later();
  const from = (zone) => edge.get("/ip", { ip: "2a06:98c0:3600::103", headers: [["CF-Worker", zone]] });
  assert.equal(await passing(20, () => from("a.example")), 5);
  assert.equal(await passing(20, () => from("b.example")), 5);
  await later();
  const claim = (index) => edge.get("/ip", { ip: "203.0.113.7", headers: [["CF-Worker", `${index}.example`]] });
  assert.equal(await passing(20, claim), 5, "for any other address the header says nothing");
});

test("key_01_fresh_keys_do_not_get_an_address_past_its_own_limit", async () => {
  await later();
  await parallel(100, (index) => edge.get("/both", { ip: "203.0.113.7", key: `random-${index}` }));
  assert.equal(edge.origin.count, 20);
});

test("key_01_a_key_is_counted_from_wherever_it_is_used", async () => {
  await later();
  await parallel(40, (index) => edge.get("/both", { ip: `203.0.113.${index}`, key: "shared" }));
  assert.equal(edge.origin.count, 5);
});

test("key_03_a_blank_key_is_no_key", async () => {
  await later();
  const blanks = [[["X-API-Key", ""]], [["X-API-Key", "  "]], [["Authorization", "Bearer "]], [["Authorization", "Bearer"]], []];
  for (const headers of blanks) {
    const answers = await inTurn(3, () => edge.get("/key", { headers }));
    assert.equal(count(answers, 200), 3, JSON.stringify(headers));
  }
});

test("key_03_padding_makes_no_other_key_and_case_does", async () => {
  await later();
  const get = (name, value) => edge.get("/key", { headers: [[name, value]] });
  assert.equal((await get("X-API-Key", "abc")).status, 200);
  refusal(await get("x-api-key", "   abc  "), { limit: "key/key" }, edge.at);
  assert.equal((await get("X-API-Key", "ABC")).status, 200);
  assert.equal((await get("Authorization", "Bearer token")).status, 200);
  for (const value of ["Bearer   token ", "bearer token", "BEARER token"]) refusal(await get("Authorization", value));
  assert.equal((await get("Authorization", "Basic token")).status, 200, "another scheme is no bearer");
});

test("keys are found in a query and a cookie", async () => {
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

test("a binding may have a place of its own for keys", async () => {
  await later();
  const get = (name) => edge.get("/own", { headers: [[name, "mine"]] });
  assert.equal((await get("X-Own")).status, 200);
  assert.equal((await get("X-Own")).status, 429);
  assert.equal(count(await inTurn(3, () => get("X-API-Key")), 200), 3);
});

test("key_04_high_bytes_are_harmless", async () => {
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

test("key_05_long_keys_differ_to_the_last_byte_and_are_stored_short", async () => {
  await later();
  const long = (last) => `${"k".repeat(8000)}${last}${"z".repeat(191)}`;
  assert.equal((await edge.get("/key", { key: long("a") })).status, 200);
  assert.equal((await edge.get("/key", { key: long("b") })).status, 200);
  assert.equal((await edge.get("/key", { key: long("a") })).status, 429);
  for (const object of await edge.objects()) {
    assert.ok(object.name.length <= 100, object.name);
    assert.ok(!/kkkk/.test(JSON.stringify(object)));
  }
});

test("key_07_a_key_sent_twice_makes_no_bucket_of_its_own", async () => {
  await later();
  const get = (...keys) => edge.get("/key", { headers: keys.map((key) => ["X-API-Key", key]) });
  for (const key of ["A", "B", "C"]) assert.equal((await get(key)).status, 200);
  assert.equal((await get("A", "B")).status, 429);
  assert.equal((await get("B", "C")).status, 429);
  assert.equal((await get("C", "A")).status, 429);
});

test("sec_01_a_key_is_nowhere_to_be_found_at_rest", async (t) => {
  const key = "sk_live_5c3e7a1fNOWHERE";
  const ip = "198.51.100.213";
  const vars = {
    SECRET: "a secret of the deployment",
    LIMIT_API: { route: "/v1/*", per_ip: "50/min", per_key: ["3/h", "100/day"], global: "100/h" },
    LIMIT_SHADOW: { route: "/s", per_key: "1/h", mode: "shadow" },
  };
  const edge = await start(t, { vars });
  await inTurn(6, () => edge.get("/v1/x", { ip, key }));
  await inTurn(3, () => edge.get("/s", { ip, key }));
  await edge.fail({ d1: { kind: "throw" }, actor: { kind: "throw", times: 2 } });
  await inTurn(6, () => edge.get("/v1/x", { ip, key }));
  await edge.fail({ d1: null, actor: null });
  const spellings = [key, Buffer.from(key).toString("hex"), Buffer.from(key).toString("base64").replace(/=+$/, ""), ip];
  const dumps = {
    objects: JSON.stringify(await edge.objects()),
    d1: JSON.stringify(await edge.d1("SELECT * FROM quota")),
    logs: JSON.stringify(edge.logs),
  };
  assert.ok(edge.logs.length > 0 && dumps.d1.length > 2, "there is something to look at");
  await edge.stop();
  for (const file of await readdir(edge.state, { recursive: true, withFileTypes: true })) {
    if (file.isFile()) dumps[file.name] = (await readFile(join(file.parentPath, file.name))).toString("latin1");
  }
  for (const [where, text] of Object.entries(dumps)) {
    for (const spelling of spellings) assert.ok(!text.toLowerCase().includes(spelling.toLowerCase()), `${spelling} in ${where}`);
  }
});

test("with another SECRET the same caller has another name", async (t) => {
  const subjects = [];
  for (const SECRET of ["one", "two", null]) {
    const edge = await start(t, { vars: { SECRET, LIMIT_API: { route: "/v1", per_key: "9/day" } } });
    await edge.get("/v1", { key: "k" });
    subjects.push((await edge.d1("SELECT subject FROM quota"))[0].subject);
  }
  assert.equal(new Set(subjects).size, 3);
});
