// Web pages of other origins: they can read a refusal. Their preflights are not counted against the
// caller, and lead around no shared limit.
import assert from "node:assert/strict";
import { test } from "node:test";
import { count, inTurn, parallel, refusal, start } from "./harness/index.mjs";

const ip = "203.0.113.7";
const page = (origin = "https://app.example") => ({ ip, headers: [["origin", origin]] });
const PREFLIGHT = [
  ["origin", "https://app.example"],
  ["access-control-request-method", "POST"],
  ["access-control-request-headers", "x-api-key"],
];
const preflight = (path, options = {}) => ({ method: "OPTIONS", path, ip, ...options, headers: PREFLIGHT });

test("COR-01: a page of another origin can read a refusal and its Retry-After", async (t) => {
  const edge = await start(t, { vars: { LIMIT_X: { route: "/x", per_ip: "5/min" } } });
  const answers = await inTurn(6, () => edge.get("/x", page()));
  refusal(answers[5], {}, edge.at);
  assert.equal(answers[5].headers["access-control-allow-origin"], "*");
  assert.equal(answers[5].headers["access-control-allow-credentials"], undefined);
  const exposed = answers[5].headers["access-control-expose-headers"].toLowerCase().split(", ");
  for (const name of ["retry-after", "ratelimit", "ratelimit-policy"]) assert.ok(exposed.includes(name), name);
  assert.match(answers[5].headers.vary, /Origin/);
  for (const name of ["access-control-allow-origin", "access-control-expose-headers"]) {
    assert.equal(answers[0].headers[name], undefined, "no header is added to the origin's answers");
  }
});

test("COR-01: a listed origin may send cookies, and no other origin may read the refusal", async (t) => {
  const vars = { CORS_ORIGINS: ["https://app.example", "https://b.example"], HEADERS: "both", LIMIT_X: { route: "/x", per_ip: "1/min" } };
  const edge = await start(t, { vars });
  assert.equal((await edge.get("/x", { ip })).status, 200);
  const read = async (origin) => {
    const { status, headers } = await edge.get("/x", page(origin));
    assert.equal(status, 429, origin);
    return headers;
  };
  const listed = await read("https://b.example");
  assert.equal(listed["access-control-allow-origin"], "https://b.example");
  assert.equal(listed["access-control-allow-credentials"], "true");
  assert.match(listed["access-control-expose-headers"], /X-RateLimit-Remaining/);
  for (const other of ["https://evil.example", "https://app.example.evil.example", "null", "https://app.example/"]) {
    const headers = await read(other);
    for (const name of Object.keys(headers)) assert.doesNotMatch(name, /^access-control/, other);
  }
});

test("COR-10: the pages of a listed app may read the refusal", async (t) => {
  const vars = { CORS_ORIGINS: ["capacitor://localhost", "tauri://localhost"], LIMIT_X: { route: "/x", per_ip: "1/min" } };
  const edge = await start(t, { vars });
  assert.equal((await edge.get("/x", { ip })).status, 200);
  for (const origin of vars.CORS_ORIGINS) {
    const { status, headers } = await edge.get("/x", page(origin));
    assert.deepEqual([status, headers["access-control-allow-origin"]], [429, origin]);
  }
  assert.equal((await edge.get("/x", page("ionic://localhost"))).headers["access-control-allow-origin"], undefined);
});

test("COR-03: a preflight goes on to the origin uncounted", async (t) => {
  const edge = await start(t, { vars: { LIMIT_BASE: { per_ip: "5/min", per_key: "5/min" } } });
  const answers = await parallel(30, () => edge.send(preflight("/x", { key: "k" })));
  assert.equal(count(answers, 200), 30);
  assert.equal(edge.origin.count, 30);
  assert.equal(edge.origin.last.method, "OPTIONS");
  assert.equal(count(await inTurn(6, () => edge.get("/x", { ip })), 200), 5, "the preflights took no token");
});

test("COR-03: an OPTIONS request that is no preflight is counted as any other", async (t) => {
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

test("COR-03: a preflight meets shared limits and block lists", async (t) => {
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

test("COR-03: a preflight with a body, credentials or an upgrade counts as a request", async (t) => {
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
    const inChunks = { write: (request) => request.write(body, () => request.end()), headers: [...headers, ["transfer-encoding", "chunked"]] };
    const whole = { body, headers: [...headers, ...lines] };
    const answers = await inTurn(8, () => edge.send({ ...rest, ...(chunked ? inChunks : whole) }));
    assert.equal(count(answers, 429), 3, JSON.stringify(lines));
    assert.equal(edge.origin.count, 5);
  }
});

test("COR-03: keys on preflights give a client no further share of a crowded rate", async (t) => {
  // A crowded rate is shared out by caller. A preflight's caller is its address, whichever key it
  // sends.
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
  assert.ok(passed > asked * 0.6, `${passed} of ${asked}, which are at most half of the rate`);
});
