// Web pages of other origins: they can read a refusal, and their preflights are neither counted against the caller nor a side door.
import assert from "node:assert/strict";
import { test } from "node:test";
import { count, inTurn, parallel, refusal, start } from "./harness/index.mjs";

const ip = "203.0.113.7";
const page = (origin = "https://app.example") => ({ ip, headers: [["origin", origin]] });
const preflight = (path, options = {}) =>
  ({ method: "OPTIONS", path, ip, ...options, headers: [["origin", "https://app.example"], ["access-control-request-method", "POST"], ["access-control-request-headers", "x-api-key"]] });

test("cor_01_a_page_can_read_a_refusal_and_when_to_come_back", async (t) => {
  const edge = await start(t, { vars: { LIMIT_X: { route: "/x", per_ip: "5/min" } } });
  const answers = await inTurn(6, () => edge.get("/x", page()));
  refusal(answers[5], {}, edge.at);
  assert.equal(answers[5].headers["access-control-allow-origin"], "*");
  assert.equal(answers[5].headers["access-control-allow-credentials"], undefined);
  const exposed = answers[5].headers["access-control-expose-headers"].toLowerCase().split(", ");
  for (const name of ["retry-after", "ratelimit", "ratelimit-policy"]) assert.ok(exposed.includes(name), name);
  assert.match(answers[5].headers.vary, /Origin/);
  for (const name of ["access-control-allow-origin", "access-control-expose-headers"]) assert.equal(answers[0].headers[name], undefined, "the origin's answers are its own");
});

test("cor_01_a_listed_origin_may_come_with_cookies_and_no_other_may_read_it", async (t) => {
  const edge = await start(t, { vars: { CORS_ORIGINS: ["https://app.example", "https://b.example"], HEADERS: "both", LIMIT_X: { route: "/x", per_ip: "1/min" } } });
  await edge.get("/x", { ip });
  const read = async (origin) => (await edge.get("/x", page(origin))).headers;
  const listed = await read("https://b.example");
  assert.equal(listed["access-control-allow-origin"], "https://b.example");
  assert.equal(listed["access-control-allow-credentials"], "true");
  assert.match(listed["access-control-expose-headers"], /X-RateLimit-Remaining/);
  for (const other of ["https://evil.example", "https://app.example.evil.example", "null", "https://app.example/"]) {
    const headers = await read(other);
    for (const name of Object.keys(headers)) assert.doesNotMatch(name, /^access-control/, other);
  }
});

test("cor_03_a_preflight_goes_on_to_the_origin_uncounted", async (t) => {
  const edge = await start(t, { vars: { LIMIT_BASE: { per_ip: "5/min", per_key: "5/min" } } });
  const answers = await parallel(30, () => edge.send(preflight("/x", { key: "k" })));
  assert.equal(count(answers, 200), 30);
  assert.equal(edge.origin.count, 30);
  assert.equal(edge.origin.last.method, "OPTIONS");
  assert.equal(count(await inTurn(6, () => edge.get("/x", { ip })), 200), 5, "and took nothing");
});

test("cor_03_options_that_are_no_preflight_are_counted_as_any_request", async (t) => {
  const edge = await start(t, { vars: { LIMIT_BASE: { per_ip: "5/min" } } });
  const origin = [["origin", "https://app.example"]];
  for (const headers of [[], origin, [["access-control-request-method", "POST"]], [...origin, ["access-control-request-method", ""]]]) {
    edge.origin.forget();
    await edge.advance(60_000);
    const answers = await parallel(100, () => edge.send({ method: "OPTIONS", path: "/x", ip, headers }));
    assert.equal(count(answers, 429), 95, JSON.stringify(headers));
    assert.equal(edge.origin.count, 5);
  }
});

test("cor_03_a_preflight_is_no_side_door_to_what_everyone_shares", async (t) => {
  const edge = await start(t, { vars: { LIMIT_BASE: { global: "10/min" }, BLOCK: "198.51.100.1" } });
  const answers = await inTurn(20, (index) => edge.send(preflight("/x", { ip: `203.0.113.${index}` })));
  assert.equal(count(answers, 200), 10);
  assert.equal(edge.origin.count, 10);
  const refused = answers[19];
  refusal(refused, { reason: "over_capacity", limit: "base/global" }, edge.at);
  assert.equal(refused.headers["access-control-allow-origin"], "*");
  const blocked = await edge.send(preflight("/x", { ip: "198.51.100.1" }));
  assert.equal(blocked.status, 403);
});

test("cor_03_what_no_browser_puts_into_a_preflight_makes_it_a_request", async (t) => {
  const edge = await start(t, { vars: { LIMIT_BASE: { per_ip: "5/min" } } });
  const more = [
    { body: "name=x&password=y" },
    { body: "chunked", chunked: true },
    { lines: [["authorization", "Bearer k"]] },
    { lines: [["cookie", "session=k"]] },
    { lines: [["x-http-method-override", "POST"]] },
    { lines: [["connection", "upgrade"], ["upgrade", "websocket"]] },
  ];
  for (const { lines = [], body, chunked } of more) {
    edge.origin.forget();
    await edge.advance(60_000);
    const { headers, ...rest } = preflight("/x");
    const given = chunked ? { write: (request) => request.write(body, () => request.end()), headers: [...headers, ["transfer-encoding", "chunked"]] } : { body, headers: [...headers, ...lines] };
    const answers = await inTurn(8, () => edge.send({ ...rest, ...given }));
    assert.equal(count(answers, 429), 3, JSON.stringify(lines));
    assert.equal(edge.origin.count, 5);
  }
});

test("cor_03_keys_on_preflights_give_nobody_a_share_of_its_own", async (t) => {
  // A crowded rate is shared out by caller; a preflight's caller is its address, whatever key it claims.
  const vars = { LIMIT_BASE: { per_key: "1000/s", global: "20/s" } };
  const edge = await start(t, { vars });
  await edge.run();
  let [asked, passed] = [0, 0];
  const until = performance.now() + 8_000;
  const half = performance.now() + 4_000;
  const ask = async (counts, options, every) => {
    while (performance.now() < until) {
      const { status } = await edge.send(options());
      if (counts && performance.now() > half) {
        asked += 1;
        passed += status === 200;
      }
      await new Promise((resolve) => setTimeout(resolve, every));
    }
  };
  let index = 0;
  await Promise.all([
    ask(false, () => preflight("/x", { key: `fresh-${index++}` }), 5),
    ask(false, () => preflight("/x", { key: `fresh-${index++}` }), 5),
    ask(true, () => ({ path: "/x", ip: "203.0.113.99", key: "mine" }), 100),
  ]);
  assert.ok(passed > asked * 0.6, `${passed} of ${asked}, which are no more than a half of what there is`);
});
