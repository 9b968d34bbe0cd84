// Hostile requests, apart from their paths: hosts, framing, lengths, floods, and header lines that
// contradict each other.
import assert from "node:assert/strict";
import net from "node:net";
import { after, test } from "node:test";
import { count, inTurn, parallel, problem, rateHeaders, rawRequest, refusal, sendRaw, start } from "./harness/index.mjs";

const vars = {
  KEY: "header:x-api-key, bearer, cookie:session, query:api_key",
  LIMIT_LOGIN: { route: "/login", per_ip: "1000/min" },
  LIMIT_TOOL: { route: "admin.example/tool", per_ip: "1000/min" },
  LIMIT_UP: { route: "POST /up", per_ip: "3/min" },
  LIMIT_SPENT: { route: "/spent", per_ip: "1/h" },
  LIMIT_KEY: { route: "/key", per_key: "1/h" },
};
const edge = await start({ after }, { vars, outbound: true, origin: () => null });

const raw = (ip, { headers = [], ...request }) =>
  sendRaw(edge.url(), rawRequest({ ...request, headers: [["CF-Connecting-IP", ip], ...headers] }));
const met = (answer) => rateHeaders(answer).limits[0]?.name;
const fine = async () => count(await parallel(20, (index) => edge.get("/fine", { ip: `192.0.2.${index}` })), 200);

/** Sends bytes on a connection of their own and hangs up after `ms`. */
const leave = (bytes, ms = 30) =>
  new Promise((resolve) => {
    const socket = net.connect(Number(edge.url().port), edge.url().hostname, () => socket.write(bytes));
    socket.on("error", () => {}).on("close", resolve);
    setTimeout(() => socket.destroy(), ms);
  });

test("a request meets the limit of the host that the origin is asked for, in any spelling", async () => {
  const { ip } = await edge.newCaller();
  const hosts = ["admin.example", "ADMIN.EXAMPLE", "admin.example:80", "admin.example:8443", "admin.example.", "Admin.Example.:80"];
  hosts.push("shop.example", "xadmin.example", "admin.example.evil.example");
  // A URL parser decodes these hosts, or maps letters and dots of other scripts, to the plain one.
  hosts.push("%61dmin.example", "admin%2Eexample", "\xef\xbd\x81dmin.example");
  hosts.push("admin\xe3\x80\x82example", "ad\xc2\xadmin.example", "user@admin.example");
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

test("an IPv4 address as host is recognised in any spelling, and OPTIONS * is for the host that it names", async (t) => {
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

test("a header line named like a pseudo-header of HTTP/2 changes nothing", async () => {
  const { ip } = await edge.newCaller();
  const lines = [[":authority", "admin.example"], [":path", "/tool"], [":method", "POST"], [":scheme", "https"]];
  for (const line of lines) {
    edge.origin.forget();
    const answer = await raw(ip, { target: "/login", headers: [line] });
    const arrived = edge.origin.seen.map(({ url, method }) => `${method} ${url}`);
    if (answer.status === 200) assert.deepEqual([met(answer), arrived], ["login/ip", ["GET /login"]]);
    else assert.deepEqual([answer.status, arrived], [400, []]);
  }
});

test("a path in a very long spelling meets its limit", async () => {
  const { ip } = await edge.newCaller();
  const prefixes = ["/x/..".repeat(2000), "/.".repeat(5000), "/".repeat(12_000), "/%2e".repeat(2500), "/x\\..".repeat(2000)];
  const targets = prefixes.map((long) => `${long}/login`);
  targets.push(`/login?${"a=%2F&".repeat(2000)}`, `/login${"/".repeat(12_000)}`, "/%6c%6f%67%69%6e");
  for (const target of targets) assert.equal(met(await raw(ip, { target })), "login/ip", target.slice(0, 50));
  assert.equal(edge.origin.count, targets.length);
  const other = await raw(ip, { target: `/login${"x".repeat(12_000)}` });
  assert.deepEqual([other.status, met(other)], [200, undefined]);
});

test("KEY-05: a very long key is counted wherever it is sent, up to its last byte", async () => {
  const { ip } = await edge.newCaller();
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

test("CF-04: very long and very many header lines are answered", async () => {
  const { ip } = await edge.newCaller();
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

test("KEY-07: a request with three hundred keys is counted for the first", async () => {
  const { ip } = await edge.newCaller();
  const flood = (first) => [["X-API-Key", first], ...Array.from({ length: 300 }, (_, index) => ["X-API-Key", `other-${index}`])];
  assert.equal((await raw(ip, { target: "/key", headers: flood("mine") })).status, 200);
  assert.equal((await raw(ip, { target: "/key", headers: [["X-API-Key", "mine"]] })).status, 429);
  assert.equal((await raw(ip, { target: "/key", headers: flood("other") })).status, 200);
});

test("IP-09: a request with two addresses counts as one without an address", async () => {
  await edge.newCaller();
  const twice = (index) => {
    const addresses = [`198.51.100.${index}`, "198.51.100.99"];
    const headers = addresses.map((address) => ["CF-Connecting-IP", address]);
    return sendRaw(edge.url(), rawRequest({ target: "/spent", headers }));
  };
  const answers = await inTurn(5, twice);
  assert.deepEqual(answers.map(({ status }) => status), [200, 429, 429, 429, 429]);
});

test("a request whose body never ends is counted once and harms no other", async () => {
  const { ip } = await edge.newCaller();
  const head = (framing) => `POST /up HTTP/1.1\r\nHost: shop.example\r\nCF-Connecting-IP: ${ip}\r\n${framing}\r\n\r\n`;
  const chunked = head("Transfer-Encoding: chunked");
  const halves = [`${head("Content-Length: 1000")}half`, `${chunked}5\r\nab`, `${chunked}zz\r\nab\r\n`];
  for (const half of halves) await leave(half, 100);
  const refused = await edge.post("/up", { ip, body: "whole" });
  const body = refusal(refused, { limit: "up/ip" }, edge.at);
  assert.equal(body.retry_after, 20, "three were counted, and none twice");
  // A refused client is answered though the rest of its body never comes.
  for (const half of halves.slice(0, 2)) problem(await sendRaw(edge.url(), half), { reason: "rate_limited", limit: "up/ip" });
  assert.equal(await fine(), 20);
});

test("a head that never ends is not counted and harms no other request", async () => {
  const { ip } = await edge.newCaller();
  const head = `GET /spent HTTP/1.1\r\nHost: shop.example\r\nCF-Connecting-IP: ${ip}\r\n`;
  for (const half of [head, "GET /spent HTTP/1.1\r\n", "GET /spe", "\r\n\r\n", "\0", "GET  /spent\r\n\r\n"]) await leave(half);
  assert.equal(edge.origin.count, 0);
  assert.equal((await edge.get("/spent", { ip })).status, 200, "nothing was counted");
  assert.equal(await fine(), 20);
});

test("a request hidden in a body never reaches the origin", async () => {
  const { ip } = await edge.newCaller();
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
  assert.ok(edge.origin.count > 0, "some of the framings are HTTP");
  assert.deepEqual(edge.origin.seen.filter(({ url }) => url !== "/login"), []);
  assert.equal(await fine(), 20);
});

test("several Accept lines are read as one list, in any order", async () => {
  const { ip } = await edge.newCaller();
  await edge.get("/spent", { ip });
  const type = async (...lines) => {
    const answers = [];
    for (const order of [lines, lines.toReversed()]) {
      const headers = order.map((line) => ["Accept", line]);
      answers.push((await raw(ip, { target: "/spent", headers })).headers["content-type"]);
    }
    assert.equal(answers[0], answers[1], JSON.stringify(lines));
    return answers[0].split(";")[0];
  };
  assert.equal(await type("text/html", "application/json"), "application/problem+json");
  assert.equal(await type("text/html", "application/json;q=0.9"), "text/html");
  assert.equal(await type("text/html;q=0", "text/html"), "text/html");
  assert.equal(await type("text/plain", "text/html;q=0.9", "*/*;q=0.1"), "text/plain");
  assert.equal(await type("*/*", "nonsense", ""), "application/problem+json");
});

test("a client that accepts no available language is answered in English", async () => {
  const { ip } = await edge.newCaller();
  await edge.get("/spent", { ip });
  const language = async (...lines) => {
    const headers = [["Accept", "text/html"], ...lines.map((line) => ["Accept-Language", line])];
    return (await raw(ip, { target: "/spent", headers })).headers["content-language"];
  };
  for (const unknown of [[], ["tlh, xx-YY;q=0.9"], ["zz-ZZ"], ["\xff\xfe"], ["zh;q=0"], ["*;q=0"], ["e\u00e9n"]]) {
    assert.equal(await language(...unknown), "en", JSON.stringify(unknown));
  }
  assert.equal(await language("en;q=0.5", "zh;q=0.9"), "zh-Hans");
  assert.equal(await language("zh;q=0.9", "en;q=0.5"), "zh-Hans");
  assert.equal(await language("de, tlh", "zh-Hant-TW;q=0.1"), "zh-Hant");
});
