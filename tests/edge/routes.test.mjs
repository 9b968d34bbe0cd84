// Which limits a request meets: paths as an origin would read them, methods, exemptions. What is forwarded is what was sent.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { count, HOUR, inTurn, NOON, parallel, rateHeaders, rawRequest, refusal, sendRaw, start } from "./harness/index.mjs";

let edge;
const late = [];
before(async () => {
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
  edge = await start({ after: (stop) => late.push(stop) }, { vars });
});
after(() => Promise.all(late.map((stop) => stop())));

let tests = 0;
async function caller() {
  tests += 1;
  await edge.freeze(NOON + tests * HOUR);
  edge.origin.forget();
  return { ip: `203.0.113.${tests}` };
}

/** The limit that a passed answer speaks of, its tightest: the route's own wherever one was met, and base's elsewhere. */
const tightest = (answer) => rateHeaders(answer).limits[0]?.name;
const forwarded = () => edge.origin.seen.map(({ url }) => url);

test("path_01_slashes_do_not_make_another_path", async () => {
  const who = await caller();
  const paths = ["/login", "//login", "/login/", "/login//"];
  const answers = await inTurn(4, (index) => edge.get(paths[index], who));
  assert.deepEqual(answers.map(({ status }) => status), [200, 200, 200, 429]);
  assert.deepEqual(forwarded(), paths.slice(0, 3), "forwarded as sent");
  await edge.advance(HOUR);
  assert.equal((await edge.get("/login//", who)).status, 200);
  assert.equal(edge.origin.last.url, "/login//");
});

test("path_02_dot_segments_do_not_make_another_path", async () => {
  const who = await caller();
  const paths = ["/./login", "/x/../login", "/%2e/login", "/x/%2E%2e/login"];
  const answers = await inTurn(4, (index) => edge.get(paths[index], who));
  assert.deepEqual(answers.map(({ status }) => status), [200, 200, 200, 429]);
});

test("path_03_encoded_letters_do_not_make_another_path", async () => {
  const who = await caller();
  const paths = ["/%6Cogin", "/lo%67in", "/%6c%6F%67%69%6e", "/login"];
  const answers = await inTurn(4, (index) => edge.get(paths[index], who));
  assert.deepEqual(answers.map(({ status }) => status), [200, 200, 200, 429]);
  assert.deepEqual(forwarded(), paths.slice(0, 3), "forwarded as sent");
});

test("path_03_an_escape_is_decoded_once", async () => {
  const who = await caller();
  assert.equal(tightest(await edge.get("/%256Cogin", who)), "base/ip");
});

test("path_04_an_encoded_slash_means_the_same_in_either_case", async () => {
  const who = await caller();
  for (const [upper, lower] of [["/api%2Flogin", "/api%2flogin"], ["/api%5Clogin", "/api%5clogin"]]) {
    assert.equal(tightest(await edge.get(upper, who)), tightest(await edge.get(lower, who)));
    assert.deepEqual(forwarded().slice(-2), [upper, lower], "forwarded as sent");
  }
});

test("path_06_another_case_is_another_path_and_base_counts", async () => {
  const who = await caller();
  const answers = await inTurn(5, () => edge.get("/LOGIN", who));
  assert.equal(count(answers, 200), 5);
  assert.equal(tightest(answers[4]), "base/ip");
  assert.match(answers[4].headers.ratelimit, /^"base\/ip";r=195;/);
});

test("path_08_a_prefix_ends_at_a_segment", async () => {
  const who = await caller();
  const answers = await inTurn(4, (index) => edge.get(["/api", "/api/", "/api/v1", "/api?x=1"][index], who));
  for (const answer of answers) assert.equal(tightest(answer), "api/ip");
  refusal(await edge.get("/api", who), { limit: "api/ip" }, edge.at);
  const other = await edge.get("/apikeys", who);
  assert.equal(other.status, 200);
  assert.equal(tightest(other), "base/ip");
});

test("path_10_a_bucket_is_not_made_per_url", async () => {
  const who = await caller();
  const answers = await parallel(100, (index) => edge.get(index % 2 ? `/rc/${index}` : `/rc/x?${index}`, who));
  assert.equal(count(answers, 200), 10);
});

test("a trailing query or an odd target changes nothing about the route", async () => {
  const who = await caller();
  const targets = ["/login?", "/login?a=/../b", "/login?/x", `http://shop.example/login`];
  const headers = [["CF-Connecting-IP", who.ip]];
  const statuses = [];
  for (const target of targets) statuses.push((await sendRaw(edge.url(), rawRequest({ target, headers }))).status);
  assert.deepEqual(statuses, [200, 200, 200, 429]);
});

test("the most specific pattern wins", async () => {
  const who = await caller();
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
  const who = await caller();
  const answers = await inTurn(3, (index) => edge.get(index % 2 ? "/one" : "/other", who));
  assert.deepEqual(answers.map(({ status }) => status), [200, 200, 429]);
});

test("mth_01_an_override_header_changes_no_method", async () => {
  const who = await caller();
  const headers = [["x-http-method-override", "POST"], ["x-method-override", "POST"]];
  const answers = await inTurn(5, () => edge.get("/signin", { ...who, headers }));
  for (const answer of answers) assert.equal(tightest(answer), "base/ip");
  assert.equal(count(answers, 200), 5);
  assert.match(answers[4].headers.ratelimit, /^"base\/ip";r=195;/);
});

test("mth_04_listed_methods_share_one_limit", async () => {
  const who = await caller();
  const answers = await inTurn(6, (index) => edge.send({ ...who, method: index % 2 ? "POST" : "GET", path: "/x" }));
  assert.deepEqual(answers.map(({ status }) => status), [200, 200, 200, 200, 200, 429]);
  assert.equal((await edge.send({ ...who, method: "PUT", path: "/x" })).status, 200);
});

test("a HEAD is a GET", async () => {
  const who = await caller();
  const statuses = [];
  for (const method of ["HEAD", "GET", "HEAD"]) statuses.push((await edge.send({ ...who, method, path: "/read" })).status);
  assert.deepEqual(statuses, [200, 200, 429]);
});

test("cor_03_an_options_request_counts_as_any", async () => {
  const who = await caller();
  const answers = await parallel(100, () => edge.send({ ...who, method: "OPTIONS", path: "/api/x" }));
  assert.equal(count(answers, 200), 4);
  assert.equal(edge.origin.count, 4);
});

test("ops_01_health_checks_pass_and_lend_nobody_their_exemption", async () => {
  const who = await caller();
  const before = (await edge.asked()).calls;
  const probes = await parallel(1000, () => edge.get("/healthz", who));
  assert.equal(count(probes, 200), 1000);
  assert.equal(tightest(probes[999]), undefined);
  assert.equal((await edge.asked()).calls, before, "no actor is asked about them");
  const sneaky = await inTurn(4, () => edge.get("/healthz/../login", who));
  assert.deepEqual(sneaky.map(({ status }) => status), [200, 200, 200, 429]);
  assert.equal(tightest(await edge.get("/healthzz", who)), "base/ip");
  assert.equal(tightest(await edge.post("/healthz", who)), "base/ip");
});

test("base limits refuse across routes", async () => {
  const who = await caller();
  const answers = await parallel(210, (index) => edge.get(`/page/${index}`, who));
  assert.equal(count(answers, 200), 200);
  refusal(await edge.get("/read", who), { limit: "base/ip" }, edge.at);
  assert.equal((await edge.get("/healthz", who)).status, 200);
});
