// The limits that a request meets, by its path as an origin would read it, its host and its method.
// The target is forwarded as it was sent.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { count, HOUR, inTurn, parallel, rateHeaders, rawRequest, refusal, sendRaw, start } from "./harness/index.mjs";

const vars = {
  LIMIT_BASE: { per_ip: "200/min" },
  LIMIT_LOGIN: { route: "/login", per_ip: "3/min" },
  LIMIT_SIGNIN: { route: "POST /signin", per_ip: "3/min" },
  LIMIT_API: { route: "/api/*", per_ip: "4/min" },
  LIMIT_RC: { route: "/rc/*", per_ip: "10/min" },
  LIMIT_X: { route: "GET,POST /x", per_ip: "5/min" },
  LIMIT_READ: { route: "GET /read", per_ip: "2/min" },
  LIMIT_USER: { route: "/users/:id", per_ip: "3/min" },
  LIMIT_ME: { route: "/users/me", per_ip: "2/min" },
  LIMIT_HOST: { route: "admin.example/tool", per_ip: "2/min" },
  LIMIT_HOSTS: { route: "*.tenant.example/*", per_ip: "2/min" },
  LIMIT_MANY: { route: ["/one", "/other"], per_ip: "2/min" },
  LIMIT_HEALTH: { route: "GET /healthz", exempt: true },
};
const edge = await start({ after }, { vars });

/**
 * The tightest limit that an admitted answer met. It is the route's own where one matched, and
 * base's elsewhere.
 */
const tightest = (answer) => rateHeaders(answer).limits[0]?.name;
const forwarded = () => edge.origin.seen.map(({ url }) => url);

/** The statuses that one caller gets at these paths, one after the other. */
const statuses = async (paths, who) => (await inTurn(paths.length, (index) => edge.get(paths[index], who))).map(({ status }) => status);

test("PATH-01: more slashes in a path lead to the same limit", async () => {
  const who = await edge.newCaller();
  const paths = ["/login", "//login", "/login/", "/login//"];
  assert.deepEqual(await statuses(paths, who), [200, 200, 200, 429]);
  assert.deepEqual(forwarded(), paths.slice(0, 3), "forwarded as sent");
  await edge.advance(HOUR);
  assert.equal((await edge.get("/login//", who)).status, 200);
  assert.equal(edge.origin.last.url, "/login//");
});

test("PATH-02: dot segments in a path lead to the same limit", async () => {
  const who = await edge.newCaller();
  const paths = ["/./login", "/x/../login", "/%2e/login", "/x/%2E%2e/login"];
  assert.deepEqual(await statuses(paths, who), [200, 200, 200, 429]);
});

test("PATH-03: encoded letters in a path lead to the same limit", async () => {
  const who = await edge.newCaller();
  const paths = ["/%6Cogin", "/lo%67in", "/%6c%6F%67%69%6e", "/login"];
  assert.deepEqual(await statuses(paths, who), [200, 200, 200, 429]);
  assert.deepEqual(forwarded(), paths.slice(0, 3), "forwarded as sent");
});

test("PATH-03: a path that is encoded twice is decoded once", async () => {
  const who = await edge.newCaller();
  assert.equal(tightest(await edge.get("/%256Cogin", who)), "base/ip");
});

test("PATH-04: an encoded slash or backslash separates no segments, in upper and lower case", async () => {
  const who = await edge.newCaller();
  const paths = ["/api%2Flogin", "/api%2flogin", "/api%5Clogin", "/api%5clogin"];
  for (const path of paths) assert.equal(tightest(await edge.get(path, who)), "base/ip", path);
  assert.deepEqual(forwarded(), paths, "forwarded as sent");
});

test("PATH-06: a path in another case meets the base limit alone", async () => {
  const who = await edge.newCaller();
  const answers = await inTurn(5, () => edge.get("/LOGIN", who));
  assert.equal(count(answers, 200), 5);
  assert.equal(tightest(answers[4]), "base/ip");
  assert.match(answers[4].headers.ratelimit, /^"base\/ip";r=195;/);
});

test("PATH-08: a prefix route ends at a segment", async () => {
  const who = await edge.newCaller();
  const answers = await inTurn(4, (index) => edge.get(["/api", "/api/", "/api/v1", "/api?x=1"][index], who));
  for (const answer of answers) assert.equal(tightest(answer), "api/ip");
  refusal(await edge.get("/api", who), { limit: "api/ip" }, edge.at);
  const other = await edge.get("/apikeys", who);
  assert.equal(other.status, 200);
  assert.equal(tightest(other), "base/ip");
});

test("PATH-10: all URLs of a route share one bucket", async () => {
  const who = await edge.newCaller();
  const answers = await parallel(100, (index) => edge.get(index % 2 ? `/rc/${index}` : `/rc/x?${index}`, who));
  assert.equal(count(answers, 200), 10);
});

test("a query or an absolute target leads to the route of the path", async () => {
  const who = await edge.newCaller();
  const targets = ["/login?", "/login?a=/../b", "/login?/x", `http://shop.example/login`];
  const headers = [["CF-Connecting-IP", who.ip]];
  const answers = await inTurn(4, (index) => sendRaw(edge.url(), rawRequest({ target: targets[index], headers })));
  assert.deepEqual(answers.map(({ status }) => status), [200, 200, 200, 429]);
});

test("of several patterns that match, the most specific decides", async () => {
  const who = await edge.newCaller();
  assert.equal(tightest(await edge.get("/users/me", who)), "me/ip");
  assert.equal(tightest(await edge.get("/users/you", who)), "user/ip");
  assert.equal(tightest(await edge.get("/users/you/more", who)), "base/ip");
  assert.equal(tightest(await edge.get("/tool", { ...who, host: "admin.example" })), "host/ip");
  assert.equal(tightest(await edge.get("/tool", { ...who, host: "ADMIN.example:80" })), "host/ip");
  assert.equal(tightest(await edge.get("/tool", who)), "base/ip");
  assert.equal(tightest(await edge.get("/", { ...who, host: "a.b.tenant.example" })), "hosts/ip");
  assert.equal(tightest(await edge.get("/", { ...who, host: "tenant.example" })), "base/ip");
});

test("several patterns of one binding share its limits", async () => {
  const who = await edge.newCaller();
  assert.deepEqual(await statuses(["/other", "/one", "/other"], who), [200, 200, 429]);
});

test("MTH-01: a header that overrides the method does not change the route", async () => {
  const who = await edge.newCaller();
  const headers = [["x-http-method-override", "POST"], ["x-method-override", "POST"]];
  const answers = await inTurn(5, () => edge.get("/signin", { ...who, headers }));
  for (const answer of answers) assert.equal(tightest(answer), "base/ip");
  assert.equal(count(answers, 200), 5);
  assert.match(answers[4].headers.ratelimit, /^"base\/ip";r=195;/);
});

test("MTH-04: methods that a route lists share its limit", async () => {
  const who = await edge.newCaller();
  const answers = await inTurn(6, (index) => edge.send({ ...who, method: index % 2 ? "POST" : "GET", path: "/x" }));
  assert.deepEqual(answers.map(({ status }) => status), [200, 200, 200, 200, 200, 429]);
  assert.equal((await edge.send({ ...who, method: "PUT", path: "/x" })).status, 200);
});

test("a HEAD request counts as a GET", async () => {
  const who = await edge.newCaller();
  const methods = ["HEAD", "GET", "HEAD"];
  const answers = await inTurn(3, (index) => edge.send({ ...who, method: methods[index], path: "/read" }));
  assert.deepEqual(answers.map(({ status }) => status), [200, 200, 429]);
});

test("COR-03: an OPTIONS request counts as any other", async () => {
  const who = await edge.newCaller();
  const answers = await parallel(100, () => edge.send({ ...who, method: "OPTIONS", path: "/api/x" }));
  assert.equal(count(answers, 200), 4);
  assert.equal(edge.origin.count, 4);
});

test("OPS-01: health checks pass uncounted, and no other path shares their exemption", async () => {
  const who = await edge.newCaller();
  const before = (await edge.asked()).calls;
  const probes = await parallel(1000, () => edge.get("/healthz", who));
  assert.equal(count(probes, 200), 1000);
  assert.equal(tightest(probes[999]), undefined);
  assert.equal((await edge.asked()).calls, before, "no actor is asked about them");
  const sneaky = Array.from({ length: 4 }, () => "/healthz/../login");
  assert.deepEqual(await statuses(sneaky, who), [200, 200, 200, 429]);
  assert.equal(tightest(await edge.get("/healthzz", who)), "base/ip");
  assert.equal(tightest(await edge.post("/healthz", who)), "base/ip");
});

test("a base limit counts the requests of all routes together", async () => {
  const who = await edge.newCaller();
  const answers = await parallel(210, (index) => edge.get(`/page/${index}`, who));
  assert.equal(count(answers, 200), 200);
  refusal(await edge.get("/read", who), { limit: "base/ip" }, edge.at);
  assert.equal((await edge.get("/healthz", who)).status, 200);
});
