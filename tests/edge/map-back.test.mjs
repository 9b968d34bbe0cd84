// An ORIGIN with a path: what answers say of places there leads the client back to Penstock, and
// tells neither the origin nor its path.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { GZIP, start } from "./harness/index.mjs";

const ip = "203.0.113.7";
const PATH = "/secret-7f3";
const PUBLIC = "http://shop.example";
const vars = {
  LIMIT_BASE: { per_ip: "1000/min" },
  LIMIT_CAP: { route: "/cap/*", in_flight: "9" },
  LIMIT_SLOW: { route: "/slow/*", timeout: "5s" },
  LIMIT_FREE: { route: "/free/*", exempt: true },
};
const edge = await start({ after }, { vars, origin: (url) => url + PATH });

/** The ways that a request can take through Penstock. */
const WAYS = ["/", "/cap/", "/slow/", "/free/"];

/** A request to which the recording origin answers with these header lines. */
const asked = (path, lines, status = 200) =>
  `${path}a?as=status&status=${status}&body=b${lines.map((line) => `&h=${encodeURIComponent(line)}`).join("")}`;

/** The values of an answer's header, line by line. */
const values = ({ lines }, wanted) => lines.filter(([name]) => name === wanted).map(([, value]) => value);

/** Fails where any header of an answer tells the origin or its path. */
function tellsNothing(answer, what = "") {
  const told = answer.lines.filter(([, value]) => value.includes(PATH.slice(1)) || value.includes(`:${edge.origin.port}`));
  assert.deepEqual(told, [], what);
}

for (const way of WAYS) {
  test(`PRX-10: each header that says where something is, is mapped back on ${way}`, async () => {
    const at = edge.origin.url + PATH;
    const answer = await edge.get(
      asked(way, [
        `Location:${at}/next`,
        `Content-Location:${PATH}/a.en`,
        `Refresh:5; url=${at}/b`,
        `Link:<${PATH}/s,1.css>; rel=preload, <${at}/2>; rel="next"`,
        `Link:<b>; rel=x`,
        `Set-Cookie:a=1; Path=${PATH}/; HttpOnly`,
        `Set-Cookie:b=2; path=${PATH}/x; domain=127.0.0.1; Expires=Wed, 15 Jan 2031 12:00:00 GMT`,
        "Set-Cookie:c=3; Path=/other",
      ], 201),
      { ip },
    );
    assert.equal(answer.status, 201);
    assert.equal(answer.text, "b");
    assert.deepEqual(values(answer, "location"), [`${PUBLIC}/next`]);
    assert.deepEqual(values(answer, "content-location"), ["/a.en"]);
    assert.deepEqual(values(answer, "refresh"), [`5; url=${PUBLIC}/b`]);
    assert.equal(values(answer, "link").join(", "), `</s,1.css>; rel=preload, <${PUBLIC}/2>; rel="next", <b>; rel=x`);
    assert.deepEqual(values(answer, "set-cookie"), [
      "a=1; Path=/; HttpOnly",
      "b=2; path=/x; domain=shop.example; Expires=Wed, 15 Jan 2031 12:00:00 GMT",
      "c=3; Path=/other",
    ]);
    assert.equal(values(answer, "ratelimit").length, way === "/free/" ? 0 : 1);
    tellsNothing(answer);
  });
}

test("PRX-10: a redirect that a file server makes from its own path can be followed", async () => {
  edge.origin.handler = (request, response) => {
    if (request.url === `${PATH}/docs`) return response.writeHead(301, { location: `${PATH}/docs/` }).end();
    if (request.url === `${PATH}/login`) return response.writeHead(302, { location: `http://${request.headers.host}${PATH}/docs/?in` }).end();
    if (request.url === `${PATH}/away`) return response.writeHead(302, { location: `http://${request.headers["x-forwarded-host"]}${PATH}/docs/` }).end();
    return response.writeHead(request.url.startsWith(`${PATH}/docs/`) ? 200 : 404).end("ok");
  };
  try {
    for (const path of ["/docs", "/login", "/away"]) {
      const redirect = await edge.get(path, { ip });
      tellsNothing(redirect, path);
      const target = new URL(redirect.headers.location, `${PUBLIC}${path}`);
      assert.equal(target.origin, PUBLIC, path);
      assert.equal((await edge.get(target.pathname + target.search, { ip })).status, 200, path);
    }
  } finally {
    edge.origin.handler = undefined;
  }
});

test("PRX-10: places elsewhere, and names that begin alike, stay", async () => {
  for (const location of ["https://elsewhere.example/secret-7f3/x", `${PATH}0`, "http://127.0.0.1:9/x", "b", "/other", "//elsewhere.example/"]) {
    for (const way of WAYS) assert.equal((await edge.get(asked(way, [`Location:${location}`], 302), { ip })).headers.location, location);
  }
});

test("PRX-10: a value that cannot be read goes on only if it tells nothing", async () => {
  for (const [value, expected] of [["http://[", "http://["], [`http://[${PATH}/x`, undefined], [`${PATH}/a, ${PATH}/b`, undefined]]) {
    for (const way of WAYS) {
      const answer = await edge.get(asked(way, [`Location:${value}`], 302), { ip });
      assert.equal(answer.status, 302);
      assert.equal(answer.headers.location, expected);
    }
  }
});

test("PRX-10: bodies and statuses of answers that say where something is stay as they are", async () => {
  const headers = [["accept-encoding", "gzip"]];
  edge.origin.handler = (request, response) => {
    response.setHeader("content-location", `${PATH}/z`);
    if (request.url.includes("empty")) return response.writeHead(304, { etag: '"v1"' }).end();
    response.writeHead(200, { "content-encoding": "gzip", "content-length": GZIP.length }).end(request.method === "HEAD" ? undefined : GZIP);
  };
  try {
    for (const way of WAYS) {
      const answer = await edge.get(`${way}z`, { ip, headers });
      assert.equal(answer.headers["content-encoding"], "gzip");
      assert.ok(answer.body.equals(GZIP), way);
      assert.equal(answer.headers["content-location"], "/z");
      const empty = await edge.get(`${way}empty`, { ip });
      assert.deepEqual([empty.status, empty.headers.etag, empty.headers["content-location"]], [304, '"v1"', "/z"]);
      const head = await edge.send({ ip, method: "HEAD", path: `${way}z`, headers });
      assert.deepEqual([head.status, head.headers["content-location"]], [200, "/z"]);
    }
  } finally {
    edge.origin.handler = undefined;
  }
});

test("PRX-10: MOVE, COPY and conditions of WebDAV lead to the origin", async () => {
  const lock = "(<opaquelocktoken:1>)";
  for (const way of WAYS) {
    const place = `${way}b%20c.txt`;
    for (const method of ["MOVE", "COPY"]) {
      const headers = [["destination", PUBLIC + place], ["if", `<${PUBLIC}${place}> ${lock}`]];
      assert.equal((await edge.send({ ip, method, path: `${way}a.txt`, headers })).status, 200);
      const { headers: sent, url } = edge.origin.last;
      assert.equal(url, `${PATH}${way}a.txt`);
      assert.equal(sent.destination, `${edge.origin.url}${PATH}${place}`);
      assert.equal(sent.if, `<${edge.origin.url}${PATH}${place}> ${lock}`);
    }
  }
  await edge.send({ ip, method: "MOVE", path: "/a", headers: [["destination", "https://elsewhere.example/b"]] });
  assert.equal(edge.origin.last.headers.destination, "https://elsewhere.example/b");
});

test("PRX-10: without a path the origin's host alone is mapped, and by a route nothing is", async (t) => {
  const plain = await start(t, { vars });
  const location = (host, path) => edge.origin.url.replace(/\d+$/, String(host.origin.port)) + path;
  for (const way of WAYS) {
    const answer = await plain.get(asked(way, [`Location:${location(plain, "/x")}`], 302), { ip });
    assert.equal(answer.headers.location, `${PUBLIC}/x`);
  }
  const routed = await start(t, { vars, outbound: true, origin: () => null });
  for (const way of WAYS) {
    const own = ["http://h.internal/secret-7f3/x", "/secret-7f3/x", "https://shop.example/secret-7f3/x"];
    for (const value of own) assert.equal((await routed.get(asked(way, [`Location:${value}`], 302), { ip })).headers.location, value);
    await routed.send({ ip, method: "MOVE", path: `${way}a`, headers: [["destination", `${PUBLIC}/b`]] });
    assert.equal(routed.origin.last.headers.destination, `${PUBLIC}/b`);
  }
});
