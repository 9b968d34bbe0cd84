// Requests on their way to the origin and answers on their way back: unchanged.
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { after, test } from "node:test";
import { BROTLI, count, GZIP, HOST, inTurn, problem, rateHeaders, rawRequest, refusal, sendRaw, start, TEXT } from "./harness/index.mjs";

const ip = "203.0.113.7";
const vars = { LIMIT_BASE: { per_ip: "100000/min" }, LIMIT_SPENT: { route: "/spent", per_ip: "1/h" } };
const edge = await start({ after }, { vars });
assert.equal((await edge.get("/spent", { ip })).status, 200);

const escaped = encodeURIComponent;

for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"]) {
  test(`a ${method} request arrives with its method`, async () => {
    assert.equal((await edge.send({ ip, method, path: "/m" })).status, 200);
    assert.equal(edge.origin.last.method, method);
  });
}

test("paths and queries arrive byte for byte", async () => {
  for (const path of [
    "/a%2Fb/%e4%F6/~x;v=1/,!$&'()*+=:@",
    "//double//slashes//",
    "/?",
    "/q?a=1&a=2&b&&c=%20+%2B&d=a%26b=c",
    "/q?redirect=https://example.com/a?b=c",
    "/q?x=[1]&y=(2)",
    "/q?x={1}|2^3`4",
    "/trailing/?",
    "/%zz/%/%00/%0d%0a",
  ]) {
    const { status } = await sendRaw(edge.url(), rawRequest({ target: path, headers: [["CF-Connecting-IP", ip]] }));
    assert.equal(status, 200, path);
    assert.equal(edge.origin.last.url, path);
  }
});

test("headers arrive as they were sent, each once", async () => {
  const headers = [
    ["accept", "text/html, */*;q=0.1"],
    ["accept-encoding", "br;q=0.9, gzip"],
    ["authorization", "Bearer abc"],
    ["cookie", "a=b; c=d"],
    ["if-none-match", '"x"'],
    ["origin", "https://app.example"],
    ["referer", "https://app.example/page"],
    ["user-agent", "agent/1.0"],
    ["x-custom", "one"],
    ["x-high", "caf\u00e9"],
  ];
  assert.equal((await edge.get("/headers", { ip, headers })).status, 200);
  const { lines } = edge.origin.last;
  for (const [name, value] of headers) {
    const got = lines.filter(([other]) => other === name).map(([, text]) => text);
    const wanted = name === "x-high" ? [value, Buffer.from(value).toString("latin1")] : [value];
    assert.ok(got.length === 1 && wanted.includes(got[0]), `${name}: ${JSON.stringify(got)}`);
  }
});

test("headers of Penstock that a client sends change no answer", async () => {
  const headers = [["ratelimit", '"x";r=1'], ["retry-after", "5"], ["penstock-trace", "actors=0"]];
  const answer = await edge.get("/headers", { ip, headers });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers["penstock-trace"], undefined);
});

test("PRX-03: a redirect of the origin goes to the client", async () => {
  for (const [method, status] of [["GET", 302], ["POST", 307], ["GET", 301], ["POST", 303], ["PUT", 308]]) {
    edge.origin.forget();
    const path = `/r?as=status&status=${status}&h=Location:${escaped("https://elsewhere.example/x?y=1")}`;
    const answer = await edge.send({ ip, method, path, ...(method !== "GET" && { body: "form" }) });
    assert.equal(answer.status, status);
    assert.equal(answer.headers.location, "https://elsewhere.example/x?y=1");
    assert.equal(edge.origin.count, 1);
  }
});

test("several cookies of the origin stay on lines of their own", async () => {
  const cookies = ["a=1; Path=/", "b=2; Expires=Wed, 15 Jan 2031 12:00:00 GMT", "c=3; HttpOnly"];
  const lines = cookies.map((line) => `h=${escaped(`Set-Cookie:${line}`)}`).join("&");
  const answer = await edge.get(`/c?as=status&status=200&${lines}`, { ip });
  assert.deepEqual(answer.lines.filter(([name]) => name === "set-cookie").map(([, value]) => value), cookies);
});

test("compressed bodies arrive unchanged", async () => {
  for (const [as, bytes, encoding] of [["gzip", GZIP, "gzip"], ["br", BROTLI, "br"]]) {
    const answer = await edge.get(`/z?as=${as}`, { ip, headers: [["accept-encoding", "gzip, br"]] });
    assert.equal(answer.headers["content-encoding"], encoding);
    assert.ok(answer.body.equals(bytes), `${as}: ${answer.body.length} bytes of ${bytes.length}`);
  }
});

test("a range request is answered with the part", async () => {
  const answer = await edge.get("/f?as=range", { ip, headers: [["range", "bytes=10-19"]] });
  assert.equal(answer.status, 206);
  assert.equal(answer.headers["content-range"], `bytes 10-19/${TEXT.length}`);
  assert.equal(answer.text, TEXT.slice(10, 20));
});

test("PRX-05: an answer without a body arrives without one", async () => {
  for (const status of [204, 304]) {
    const answer = await edge.get(`/n?as=status&status=${status}&h=${escaped('ETag:"v1"')}`, { ip });
    assert.equal(answer.status, status);
    assert.equal(answer.headers.etag, '"v1"');
    assert.equal(answer.body.length, 0);
  }
  for (const length of ["0", "1234"]) {
    const answer = await edge.send({ ip, method: "HEAD", path: `/n?as=status&status=200&h=Content-Length:${length}` });
    assert.equal(answer.status, 200);
    assert.equal(answer.body.length, 0);
  }
  const zero = await edge.send({ ip, method: "HEAD", path: "/n", headers: [["content-length", "0"]] });
  assert.equal(zero.status, 200);
});

test("PRX-05: a refused HEAD request is answered without a body", async () => {
  const answer = await edge.send({ ip, method: "HEAD", path: "/spent" });
  assert.equal(answer.status, 429);
  assert.match(answer.headers["retry-after"], /^[1-9][0-9]*$/);
  assert.equal(answer.body.length, 0);
});

test("HDR-06: the origin's own 429 arrives unchanged", async () => {
  const path = "/own?as=status&status=429&body=slow+down&h=Retry-After:30&h=Content-Type:text/plain&h=Cache-Control:max-age=5";
  const answer = await edge.get(path, { ip });
  assert.equal(answer.status, 429);
  assert.equal(answer.text, "slow down");
  assert.equal(answer.headers["retry-after"], "30");
  assert.equal(answer.headers["content-type"], "text/plain");
  assert.equal(answer.headers["cache-control"], "max-age=5");
  assert.equal(rateHeaders(answer).limits[0].name, "base/ip", "and Penstock adds its own limit");
});

test("an origin's rate headers stay, and Penstock adds its own to the structured ones", async (t) => {
  const both = await start(t, { vars: { HEADERS: "both", LIMIT_BASE: { per_ip: "100/min" } } });
  const own = ['RateLimit:"o";r=0;t=30', 'RateLimit-Policy:"o";q=5;w=60', "X-RateLimit-Remaining:0"];
  const lines = own.map((line) => `h=${escaped(line)}`).join("&");
  const { headers } = await both.get(`/own?as=status&status=429&body=b&${lines}`, { ip });
  assert.equal(headers.ratelimit, '"o";r=0;t=30, "base/ip";r=99;t=1');
  assert.equal(headers["ratelimit-policy"], '"o";q=5;w=60, "base/ip";q=100;w=60');
  assert.deepEqual(["limit", "remaining", "reset"].map((name) => headers[`x-ratelimit-${name}`]), [undefined, "0", undefined]);
  const plain = (await both.get("/own", { ip })).headers;
  assert.deepEqual(["limit", "remaining"].map((name) => plain[`x-ratelimit-${name}`]), ["100", "98"]);
});

test("any status of the origin passes through", async () => {
  for (const status of [201, 400, 401, 404, 418, 500, 502, 503]) {
    const answer = await edge.get(`/s?as=status&status=${status}&body=b`, { ip });
    assert.equal(answer.status, status);
    assert.equal(answer.text, "b");
  }
});

test("an ORIGIN with a path puts it in front of each request's", async (t) => {
  for (const slash of ["", "/"]) {
    const edge = await start(t, { origin: (url) => `${url}/v2/base${slash}` });
    assert.equal((await edge.get("/a/b?c=d", { ip })).status, 200);
    assert.equal(edge.origin.last.url, "/v2/base/a/b?c=d");
    await edge.get("/", { ip });
    assert.equal(edge.origin.last.url, "/v2/base/");
    await edge.get("/../../etc", { ip });
    assert.equal(edge.origin.last.url, "/v2/base/etc", "no way out of the prefix");
  }
});

test("without ORIGIN a request goes to the host that it names", async (t) => {
  const edge = await start(t, { outbound: true, origin: () => null, vars: { LIMIT_X: { route: "/x", per_ip: "2/min" } } });
  const answers = await inTurn(3, () => edge.get("/x?y=%2F", { ip }));
  assert.deepEqual(answers.map(({ status }) => status), [200, 200, 429]);
  assert.equal(edge.origin.count, 2);
  assert.equal(edge.origin.last.url, "/x?y=%2F");
  assert.equal(edge.origin.last.headers.host, HOST);
  const body = "x".repeat(100_000);
  assert.equal((await edge.post("/other?as=echo", { ip, body })).text, body);
});

test("an origin that does not listen is answered for with 502", async (t) => {
  const edge = await start(t, { origin: () => "http://127.0.0.1:9" });
  problem(await edge.get("/", { ip }), { reason: "origin_unreachable", status: 502 });
});

test("an origin that hangs up is answered for with 502", async () => {
  problem(await edge.get("/?as=reset", { ip }), { reason: "origin_unreachable", status: 502 });
});

test("CF-03: a request to an ORIGIN that is this Worker ends after one hop", async (t) => {
  const port = await freePort();
  const vars = { LIMIT_BASE: { per_ip: "1000/min" } };
  const edge = await start(t, { port, origin: () => `http://127.0.0.1:${port}`, vars });
  for (const host of [HOST, `127.0.0.1:${port}`]) {
    const before = (await edge.asked()).calls;
    const answer = await edge.get("/", { ip, host });
    problem(answer);
    assert.ok(answer.status >= 500, `${answer.status}`);
    assert.ok((await edge.asked()).calls - before <= 2, "one hop");
  }
});

test("CF-03: a chain of two Penstocks is no loop", async (t) => {
  const vars = { LIMIT_BASE: { per_ip: "1000/min" } };
  const inner = await start(t, { vars });
  const outer = await start(t, { vars, origin: () => inner.url().origin });
  const answers = await inTurn(3, () => outer.get("/through", { ip }));
  assert.deepEqual(answers.map(({ status }) => status), [200, 200, 200]);
  assert.deepEqual(inner.origin.seen.map(({ url }) => url), ["/through", "/through", "/through"]);
  for (const edge of [outer, inner]) assert.ok((await edge.asked()).calls > 0, "both have counted");
});

test("CF-03: two Penstocks that forward to each other end after one round", async (t) => {
  const [here, there] = [await freePort(), await freePort()];
  const vars = { LIMIT_BASE: { per_ip: "1000/min" } };
  const edge = await start(t, { port: here, origin: () => `http://127.0.0.1:${there}`, vars });
  const other = await start(t, { port: there, origin: () => `http://127.0.0.1:${here}`, vars });
  problem(await edge.get("/", { ip }), { reason: "misconfigured", status: 500 });
  for (const one of [edge, other]) assert.ok((await one.asked()).calls <= 2, "one round");
});

test("a refused request does not reach the origin", async () => {
  edge.origin.forget();
  const answers = await inTurn(20, () => edge.get("/spent", { ip }));
  assert.equal(count(answers, 429), 20);
  for (const answer of answers) refusal(answer, { limit: "spent/ip" }, edge.at);
  assert.equal(edge.origin.count, 0);
});

/** A free port of this machine. */
async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
