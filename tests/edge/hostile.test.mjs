// Hostile spellings of everything but the path: hosts, framing, lengths, floods, and lines that contradict each other.
import assert from "node:assert/strict";
import net from "node:net";
import { after, before, test } from "node:test";
import { count, HOUR, inTurn, NOON, parallel, problem, rateHeaders, rawRequest, refusal, sendRaw, start } from "./harness/index.mjs";

let edge;
const late = [];
before(async () => {
  const vars = {
    KEY: "header:x-api-key, bearer, cookie:session, query:api_key",
    LIMIT_LOGIN: { route: "/login", per_ip: "1000/min" },
    LIMIT_TOOL: { route: "admin.example/tool", per_ip: "1000/min" },
    LIMIT_UP: { route: "POST /up", per_ip: "3/min" },
    LIMIT_SPENT: { route: "/spent", per_ip: "1/h" },
    LIMIT_KEY: { route: "/key", per_key: "1/h" },
  };
  edge = await start({ after: (stop) => late.push(stop) }, { vars, outbound: true, origin: () => null });
});
after(() => Promise.all(late.map((stop) => stop())));

let tests = 0;
async function caller() {
  tests += 1;
  await edge.freeze(NOON + tests * HOUR);
  edge.origin.forget();
  return `203.0.113.${tests}`;
}

const raw = (ip, { headers = [], ...request }) => sendRaw(edge.url(), rawRequest({ ...request, headers: [["CF-Connecting-IP", ip], ...headers] }));
const met = (answer) => rateHeaders(answer).limits[0]?.name;
const fine = async () => count(await parallel(20, (index) => edge.get("/fine", { ip: `192.0.2.${index}` })), 200);

/** Sends bytes on a connection of their own and hangs up after some milliseconds. */
const leave = (bytes, ms = 30) =>
  new Promise((resolve) => {
    const socket = net.connect(Number(edge.url().port), edge.url().hostname, () => socket.write(bytes));
    socket.on("error", () => {}).on("close", resolve);
    setTimeout(() => socket.destroy(), ms);
  });

test("whichever host the origin is asked for, its limit is met", async () => {
  const ip = await caller();
  const hosts = ["admin.example", "ADMIN.EXAMPLE", "admin.example:80", "admin.example:8443", "admin.example.", "Admin.Example.:80", "shop.example", "xadmin.example", "admin.example.evil.example"];
  // As a URL parser reads them: decoded, and other scripts' letters and dots for the plain ones.
  hosts.push("%61dmin.example", "admin%2Eexample", "\xef\xbd\x81dmin.example", "admin\xe3\x80\x82example", "ad\xc2\xadmin.example", "user@admin.example");
  const requests = hosts.flatMap((host) => [
    { host, target: "/tool" },
    { host, target: "http://admin.example/tool" },
    { host, target: "http://shop.example/tool" },
    { host: "shop.example", target: `http://${host}/tool` },
    { host: "shop.example", target: `http://user:pw@${host}/tool` },
    { host, target: "/tool", headers: [["Host", "admin.example"]] },
    { host, target: "/tool", headers: [["X-Forwarded-Host", "admin.example"], ["Forwarded", "host=admin.example"]] },
  ]);
  let guarded = 0;
  for (const request of requests) {
    edge.origin.forget();
    const answer = await raw(ip, request);
    if (answer.status !== 200) {
      assert.ok(answer.status >= 400 && edge.origin.count === 0, `${answer.status} to ${JSON.stringify(request)}`);
      continue;
    }
    const asked = edge.origin.last.headers.host.toLowerCase().replace(/:\d+$/, "").replace(/\.$/, "");
    assert.equal(met(answer), asked === "admin.example" ? "tool/ip" : undefined, `${asked}: ${JSON.stringify(request)}`);
    guarded += asked === "admin.example";
  }
  assert.ok(guarded >= 12, `${guarded} of ${requests.length}`);
});

test("an address for a host is one in any spelling, and OPTIONS * is for the host that it names", async (t) => {
  const vars = { LIMIT_NINE: { route: "127.0.0.9/*", per_ip: "1000/min" }, LIMIT_ADMIN: { route: "admin.example/*", per_ip: "1000/min" } };
  const elsewhere = await start(t, { vars, outbound: true, origin: () => null });
  for (const host of ["127.0.0.9", "127.9", "0x7f.0.0.9", "0177.0.0.9", "2130706441", "127.0.0.9.", "127.0.0.%39"]) {
    const answer = await sendRaw(elsewhere.url(), rawRequest({ host, target: "/tool" }));
    assert.equal(elsewhere.origin.last.headers.host, "127.0.0.9", host);
    assert.equal(met(answer), "nine/ip", host);
  }
  assert.equal(met(await sendRaw(elsewhere.url(), rawRequest({ host: "admin.example\\x", target: "/tool" }))), "admin/ip");
  for (const target of ["*", "/"]) {
    for (const method of ["OPTIONS", "GET"]) {
      const answer = await sendRaw(elsewhere.url(), rawRequest({ method, host: "admin.example", target }));
      assert.equal(answer.status, 200);
      assert.equal(met(answer), "admin/ip", `${method} ${target}`);
    }
  }
});

test("what is called like a pseudo-header of HTTP/2 is none", async () => {
  const ip = await caller();
  for (const line of [[":authority", "admin.example"], [":path", "/tool"], [":method", "POST"], [":scheme", "https"]]) {
    const answer = await raw(ip, { target: "/login", headers: [line] });
    if (answer.status === 200) assert.equal(met(answer), "login/ip");
    else assert.equal(answer.status, 400);
  }
  assert.ok(edge.origin.seen.every(({ url, method }) => url === "/login" && method === "GET"));
});

test("however long a path is spelt, its limit is met", async () => {
  const ip = await caller();
  const targets = ["/x/..".repeat(2000), "/.".repeat(5000), "/".repeat(12_000), "/%2e".repeat(2500), "/x\\..".repeat(2000)].map((long) => `${long}/login`);
  targets.push(`/login?${"a=%2F&".repeat(2000)}`, `/login${"/".repeat(12_000)}`, "/%6c%6f%67%69%6e");
  for (const target of targets) assert.equal(met(await raw(ip, { target })), "login/ip", target.slice(0, 50));
  assert.equal(edge.origin.count, targets.length);
  const other = await raw(ip, { target: `/login${"x".repeat(12_000)}` });
  assert.equal(met(other), undefined);
});

test("key_05_however_long_a_key_is_it_is_one_and_its_last_byte_counts", async () => {
  const ip = await caller();
  const long = (last) => "k".repeat(7_000) + last;
  const ways = [
    (key) => ({ headers: [["X-API-Key", key]] }),
    (key) => ({ headers: [["Authorization", `Bearer ${key}`]] }),
    (key) => ({ headers: [["Cookie", `session=${key}`]] }),
    (key) => ({ target: `/key?api_key=${key}` }),
  ];
  for (const [way, send] of ways.entries()) {
    const answers = await inTurn(2, () => raw(ip, { target: "/key", ...send(long(way)) }));
    assert.deepEqual(answers.map(({ status }) => status), [200, 429], `way ${way}`);
  }
  assert.equal((await raw(ip, { target: "/key", ...ways[0](long(3)) })).status, 429, "a key is the same caller wherever it is put");
});

test("cf_04_long_and_many_of_everything_else_are_answered", async () => {
  const ip = await caller();
  const many = (name, value) => Array.from({ length: 300 }, (_, index) => [name, value(index)]);
  const requests = [
    { host: `${"a".repeat(300)}.example` },
    { host: `${"a.".repeat(150)}example` },
    { method: "X".repeat(8_000) },
    { method: "get" },
    { headers: [[`X-${"n".repeat(12_000)}`, "v"]] },
    { headers: [["X-Long", "v".repeat(14_000)]] },
    { headers: many("X-API-Key", (index) => `key-${index}`) },
    { headers: many("Cookie", (index) => `session=${index}`) },
    { headers: many("Accept", () => "text/html;q=0.5") },
    { headers: many("Accept-Language", (index) => `x${index};q=0.${index}`) },
    { headers: many("Authorization", (index) => `Bearer ${index}`) },
    { headers: many("X-Forwarded-For", (index) => `198.51.100.${index}`) },
  ];
  for (const request of requests) {
    const { status } = await raw(ip, { target: "/login", ...request });
    assert.ok([200, 400, 413, 414, 431, 501].includes(status), `${status} to ${JSON.stringify(request).slice(0, 80)}`);
  }
  assert.equal(await fine(), 20);
});

test("key_07_of_three_hundred_keys_the_first_counts", async () => {
  const ip = await caller();
  const flood = (first) => [["X-API-Key", first], ...Array.from({ length: 300 }, (_, index) => ["X-API-Key", `${tests}-${index}`])];
  assert.equal((await raw(ip, { target: "/key", headers: flood("mine") })).status, 200);
  assert.equal((await raw(ip, { target: "/key", headers: [["X-API-Key", "mine"]] })).status, 429);
  assert.equal((await raw(ip, { target: "/key", headers: flood("other") })).status, 200);
});

test("ip_09_an_address_sent_twice_is_none", async () => {
  await caller();
  const twice = (index) => sendRaw(edge.url(), rawRequest({ target: "/spent", headers: [["CF-Connecting-IP", `198.51.100.${index}`], ["CF-Connecting-IP", "198.51.100.99"]] }));
  const answers = await inTurn(5, twice);
  assert.deepEqual(answers.map(({ status }) => status), [200, 429, 429, 429, 429]);
});

test("half-sent bodies are counted once and harm nobody", async () => {
  const ip = await caller();
  const head = (framing) => `POST /up HTTP/1.1\r\nHost: shop.example\r\nCF-Connecting-IP: ${ip}\r\n${framing}\r\n\r\n`;
  const halves = [head("Content-Length: 1000") + "half", head("Transfer-Encoding: chunked") + "5\r\nab", head("Transfer-Encoding: chunked") + "zz\r\nab\r\n"];
  for (const half of halves) await leave(half, 100);
  const refused = await edge.post("/up", { ip, body: "whole" });
  const body = refusal(refused, { limit: "up/ip" }, edge.at);
  assert.equal(body.retry_after, 20, "three were counted, and none twice");
  // Who is refused hears of it though the rest never comes.
  for (const half of halves.slice(0, 2)) problem(await sendRaw(edge.url(), half), { reason: "rate_limited", limit: "up/ip" });
  assert.equal(await fine(), 20);
});

test("half-sent heads are no requests", async () => {
  const ip = await caller();
  for (const half of ["GET /spent HTTP/1.1\r\n", `GET /spent HTTP/1.1\r\nHost: shop.example\r\nCF-Connecting-IP: ${ip}\r\n`, "GET /spe", "\r\n\r\n", "\0", "GET  /spent\r\n\r\n"]) await leave(half);
  assert.equal(edge.origin.count, 0);
  assert.equal((await edge.get("/spent", { ip })).status, 200, "nothing was counted");
  assert.equal(await fine(), 20);
});

test("no body is read as a request that nobody counted", async () => {
  const ip = await caller();
  assert.equal((await edge.get("/spent", { ip })).status, 200);
  edge.origin.forget();
  const inner = `GET /spent HTTP/1.1\r\nHost: shop.example\r\nCF-Connecting-IP: ${ip}\r\n\r\n`;
  const framings = [
    `Content-Length: ${inner.length + 5}\r\nTransfer-Encoding: chunked`,
    "Transfer-Encoding: chunked\r\nContent-Length: 5",
    "Content-Length: 5\r\nContent-Length: 0",
    "Content-Length: 0, 5",
    "Transfer-Encoding: xchunked",
    "Transfer-Encoding: identity, chunked",
    "Transfer-Encoding : chunked",
    "Transfer-Encoding:\tchunked",
    "X: y\nTransfer-Encoding: chunked",
    "Content-Length: +5",
    "Content-Length: 0x5",
    "Content-Length: -1",
  ];
  for (const framing of framings) {
    const head = `POST /login HTTP/1.1\r\nHost: shop.example\r\nCF-Connecting-IP: ${ip}\r\n${framing}\r\n\r\n`;
    await leave(`${head}0\r\n\r\n${inner}`, 100);
  }
  assert.deepEqual(edge.origin.seen.filter(({ url }) => url !== "/login"), []);
  assert.equal(await fine(), 20);
});

test("lines that contradict each other are read as one list, whatever their order", async () => {
  const ip = await caller();
  await edge.get("/spent", { ip });
  const type = async (...lines) => {
    const answers = [];
    for (const order of [lines, lines.toReversed()]) answers.push((await raw(ip, { target: "/spent", headers: order.map((line) => ["Accept", line]) })).headers["content-type"]);
    assert.equal(answers[0], answers[1], JSON.stringify(lines));
    return answers[0].split(";")[0];
  };
  assert.equal(await type("text/html", "application/json"), "application/problem+json");
  assert.equal(await type("text/html", "application/json;q=0.9"), "text/html");
  assert.equal(await type("text/html;q=0", "text/html"), "text/html");
  assert.equal(await type("text/plain", "text/html;q=0.9", "*/*;q=0.1"), "text/plain");
  assert.equal(await type("*/*", "nonsense", ""), "application/problem+json");
});

test("who speaks no language of ours is spoken to in English", async () => {
  const ip = await caller();
  await edge.get("/spent", { ip });
  const language = async (...lines) => {
    const headers = [["Accept", "text/html"], ...lines.map((line) => ["Accept-Language", line])];
    return (await raw(ip, { target: "/spent", headers })).headers["content-language"];
  };
  for (const unknown of [[], ["tlh, xx-YY;q=0.9"], ["zz-ZZ"], ["\xff\xfe"], ["zh;q=0"], ["*;q=0"], ["e\u00e9n"]]) assert.equal(await language(...unknown), "en", JSON.stringify(unknown));
  assert.equal(await language("en;q=0.5", "zh;q=0.9"), "zh-Hans");
  assert.equal(await language("zh;q=0.9", "en;q=0.5"), "zh-Hans");
  assert.equal(await language("de, tlh", "zh-Hant-TW;q=0.1"), "zh-Hans");
});
