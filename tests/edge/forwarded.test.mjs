// FORWARDED: by X-Forwarded-Host, -Proto and -For an ORIGIN learns how the client asked, from
// Penstock alone.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import express from "express";
import { openSocket, rawRequest, sendRaw, start } from "./harness/index.mjs";

const ip = "203.0.113.7";
const vars = { LIMIT_BASE: { per_ip: "1000/min" }, LIMIT_CAP: { route: "/cap", in_flight: "9" }, LIMIT_SLOW: { route: "/slow", timeout: "5s" } };
const edge = await start({ after }, { vars });

/** The names under which a proxy speaks, as a client forges them: twice, and in two spellings. */
const NAMES = ["Host", "Proto", "For", "Port", "Prefix", "Scheme", "Ssl"].map((name) => `X-Forwarded-${name}`);
const forged = [
  ...NAMES.flatMap((name) => [[name, "evil.example"], [name.toLowerCase(), "evil.example"]]),
  ["Forwarded", "for=198.51.100.1;host=evil.example;proto=https"],
];

/** The headers of the origin's last request under these names, and `Forwarded`. */
const told = ({ origin }) => origin.last.lines.filter(([name]) => /^(x-)?forwarded/.test(name)).sort();
const expected = (host, address = ip, scheme = "http") => [
  ...(address ? [["x-forwarded-for", address]] : []),
  ...(host ? [["x-forwarded-host", host]] : []),
  ["x-forwarded-proto", scheme],
];

for (const path of ["/", "/cap", "/slow"]) {
  test(`PRX-11: the origin is told host, scheme and address with a request for ${path}, whatever the client sends`, async () => {
    for (const host of ["shop.example", "other.shop.example:8443", "[2001:db8::7]:81"]) {
      for (const headers of [[], forged]) {
        assert.equal((await edge.get(path, { ip, host, headers })).status, 200);
        assert.deepEqual(told(edge), expected(host));
        assert.equal(edge.origin.last.headers.host, `127.0.0.1:${edge.origin.port}`);
      }
    }
  });
}

test("PRX-11: the origin is told the scheme that the client used", async () => {
  for (const scheme of ["https", "http"]) {
    const answer = await edge.dispatch(`${scheme}://shop.example/x?y=1`, { headers: { "cf-connecting-ip": ip } });
    assert.equal(answer.status, 200, await answer.text());
    assert.deepEqual(told(edge), expected("shop.example", ip, scheme));
  }
});

test("PRX-11: the origin is told the same with a WebSocket", async () => {
  const { client } = await openSocket(edge.url(), { ip });
  assert.deepEqual(told(edge), expected("shop.example"));
  client.terminate();
});

test("PRX-11: the address is the whole one that Cloudflare vouches for, or none", async () => {
  for (const [sent, address] of [
    ["2001:DB8:0:0::7", "2001:db8::7"],
    [" 198.51.100.9 ", "198.51.100.9"],
    ["::ffff:198.51.100.9", "::ffff:198.51.100.9"],
    ["unknown", null],
    ["198.51.100.9, 198.51.100.10", null],
    [undefined, null],
  ]) {
    await edge.get("/", { ip: sent, headers: forged });
    assert.deepEqual(told(edge), expected("shop.example", address), sent);
  }
  const pseudo = [["cf-connecting-ipv6", "2001:db8::9"]];
  await edge.get("/", { ip: "240.1.2.3", headers: pseudo });
  assert.deepEqual(told(edge), expected("shop.example", "2001:db8::9"));
});

test("PRX-11: a host that no application could read is not told", async () => {
  for (const host of ["shop.example*", "a^b", "[::1", "shop.example/@evil.example", "caf\u00e9.example", "shop.example:99999"]) {
    const headers = [["CF-Connecting-IP", ip], ...forged];
    const { status } = await sendRaw(edge.url(), rawRequest({ host, headers }));
    if (status === 400) continue; // the runtime's own answer
    assert.equal(status, 200, host);
    const hosts = told(edge).filter(([name]) => name === "x-forwarded-host");
    for (const [, value] of hosts) assert.match(value, /^[a-zA-Z0-9.:[\]_-]+$/, host);
    assert.ok(!JSON.stringify(told(edge)).includes("evil"), JSON.stringify(told(edge)));
  }
});

test("PRX-11: Express that trusts its proxy knows host, scheme and address", async (t) => {
  const origin = await start(t, { vars });
  const app = express().set("trust proxy", true);
  app.get("/", ({ host, hostname, protocol, ip }, response) => response.json({ host, hostname, protocol, ip }));
  origin.origin.handler = app;
  const url = "https://shop.example:8443/";
  const answer = await origin.dispatch(url, { headers: [["cf-connecting-ip", ip], ...forged] });
  assert.deepEqual(await answer.json(), { host: "shop.example:8443", hostname: "shop.example", protocol: "https", ip });
});

test("PRX-13: the comparisons of applications hold behind ORIGIN, and fail where nothing is told", async (t) => {
  // A login form of Django, a server action of Next.js, and a MOVE of WsgiDAV compare these.
  const comparing = (request, response) => {
    const { headers, method } = request;
    const host = headers["x-forwarded-host"] ?? headers.host;
    const scheme = headers["x-forwarded-proto"] ?? "http";
    const place = method === "MOVE" ? new URL(headers.destination) : new URL(headers.origin);
    const own = method === "MOVE" ? [`${scheme}://${host}`, `http://${headers.host}`] : [`${scheme}://${host}`];
    response.writeHead(own.includes(place.origin) ? 200 : 403).end(place.href);
  };
  for (const [forwarded, form] of [["x-forwarded", 200], ["none", 403]]) {
    const app = await start(t, { vars: { ...vars, FORWARDED: forwarded }, origin: (url) => `${url}/p` });
    app.origin.handler = comparing;
    for (const path of ["/", "/cap", "/slow"]) {
      const ask = (method, headers) => app.dispatch(`https://shop.example${path}`, { method, headers: { "cf-connecting-ip": ip, ...headers } });
      assert.equal((await ask("POST", { origin: "https://shop.example" })).status, form, `${forwarded} ${path}`);
      assert.equal((await ask("POST", { origin: "https://evil.example", "x-forwarded-host": "evil.example" })).status, 403);
      const moved = await ask("MOVE", { destination: "https://shop.example/b" });
      assert.deepEqual([moved.status, await moved.text()], [200, `${app.origin.url}/p/b`]);
    }
  }
});

test("PRX-11: nothing is told where FORWARDED is none, nor to a route's own origin", async (t) => {
  const own = forged.map(([name]) => name.toLowerCase()).filter((name, index, all) => all.indexOf(name) === index);
  for (const options of [{ vars: { ...vars, FORWARDED: "none" } }, { vars, outbound: true, origin: () => null }]) {
    const other = await start(t, options);
    for (const path of ["/", "/cap"]) {
      await other.get(path, { ip });
      assert.deepEqual(told(other), []);
      await other.get(path, { ip, headers: forged });
      assert.deepEqual([...new Set(told(other).map(([name]) => name))], own.sort(), "they stay the client's");
      assert.ok(told(other).every(([, value]) => value.includes("evil.example")));
    }
  }
});
