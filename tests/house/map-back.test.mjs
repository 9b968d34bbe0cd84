// Places at the origin, as answers say them, and where the client finds them: src/http/map_back.js by itself.
import assert from "node:assert/strict";
import { test } from "node:test";
import { mapBack, mapRequest, saysWhere, wayBack } from "../../src/http/map_back.js";
import { Random } from "../edge/harness/random.mjs";

const ORIGIN = "http://h.internal/secret-7f3";
const ASKED = "https://shop.example/docs/a?x=1";

/** The way of the answer to a request for `asked`, which an ORIGIN got at `origin`. */
function way({ origin = ORIGIN, asked = ASKED, method = "GET" } = {}) {
  const path = URL.canParse(asked) ? asked.slice(new URL(asked).origin.length) : "/docs/a?x=1";
  return wayBack({ url: asked, method }, origin, origin + path);
}

/** The headers of an answer, mapped: by name, and cookies as a list. */
function mapped(lines, options) {
  const headers = new Headers(lines);
  mapBack(headers, way(options));
  return headers;
}

/** The header `name` with this value, mapped; null where it is dropped. */
const one = (name, value, options) => mapped([[name, value]], options).get(name);

/** Expects each `[value, result]` of a header; `same` stands for the value. */
function expectEach(name, rows, options) {
  for (const [value, result] of rows) assert.equal(one(name, value, options), result === same ? value : result, `${name}: ${value}`);
}

const same = Symbol("as it was");

/** References to places, and what they become behind ORIGIN with a path. */
const REFERENCES = [
  // Within the path, in each form.
  ["/secret-7f3/docs/", "/docs/"],
  ["/secret-7f3/docs?a=1&b=%2F#top", "/docs?a=1&b=%2F#top"],
  ["/secret-7f3", "/"],
  ["/secret-7f3/", "/"],
  ["/secret-7f3?x", "/?x"],
  ["http://h.internal/secret-7f3/docs/", "https://shop.example/docs/"],
  ["HTTP://H.Internal:80/secret-7f3/docs/", "https://shop.example/docs/"],
  ["http://user:pw@h.internal/secret-7f3/x", "https://shop.example/x"],
  ["http://h.internal./secret-7f3/x", "https://shop.example/x"],
  ["//h.internal/secret-7f3/x", "//shop.example/x"],
  ["\\\\h.internal\\secret-7f3\\x", "//shop.example/x"],
  ["http:/secret-7f3/x", "https://shop.example/x"],
  ["https://h.internal/secret-7f3/x", "https://shop.example/x"],
  ["wss://h.internal/secret-7f3/live", "wss://shop.example/live"],
  ["ws://h.internal/secret-7f3/live", "wss://shop.example/live"],
  // The public host with the origin's path: from an application that believes X-Forwarded-Host.
  ["https://shop.example/secret-7f3/docs/", "https://shop.example/docs/"],
  ["//shop.example/secret-7f3/docs/", "//shop.example/docs/"],
  ["http://shop.example/secret-7f3/docs/", "http://shop.example/docs/"],
  ["https://shop.example/docs/", same],
  ["http://shop.example/docs/", same],
  // Dot segments, slashes and escapes that lead to the same place.
  ["/x/../secret-7f3/docs", "/docs"],
  ["/./secret-7f3/./docs", "/docs"],
  ["/%73ecret-7f3/docs", "/docs"],
  ["/secret-7f3%2Fdocs", "/docs"],
  ["//h.internal//secret-7f3//docs", "//shop.example//docs"],
  ["../../secret-7f3/b", "/b"],
  ["../../../secret-7f3/b", "/b"],
  ["/secret-7f3/../b", same],
  ["/secret-7f3//evil.example/x", "https://shop.example//evil.example/x"],
  ["/secret-7f3/\\evil.example/x", "https://shop.example//evil.example/x"],
  ["/secret-7f3/my file.txt", "/my%20file.txt"],
  // Relative to the request: right for both.
  ["b", same],
  ["./b/", same],
  ["../b", same],
  ["?page=2", same],
  ["#end", same],
  // At the origin, outside of its path: the host alone is ours.
  ["/other", same],
  ["/secret-7f30", same],
  ["/secret-7f3-old/x", same],
  ["/a/secret-7f3/x", same],
  ["http://h.internal/other", "https://shop.example/other"],
  ["http://h.internal/secret-7f30/x", "https://shop.example/secret-7f30/x"],
  ["http://h.internal", "https://shop.example/"],
  // Elsewhere.
  ["https://elsewhere.example/secret-7f3/x", same],
  ["http://h.internal:8080/secret-7f3/x", same],
  ["http://h.internal.example/secret-7f3", same],
  ["http://www.h.internal/x", same],
  ["https://shop.example:8443/secret-7f3/x", same],
  ["mailto:a@b.example", same],
  ["app://open?x=1", same],
  // What cannot be read goes on unless it names the origin or its path.
  ["http://[", same],
  ["https://a.example:99999/x", same],
  ["http://h.internal:99999/x", null],
  ["http://[h.internal/x", null],
  ["http://[/secret-7f3/x", null],
  ["http://[/%73ecret-7f3/x", null],
  ["http://[/secret-7f30/x", same],
  ["/secret-7f3/a, /secret-7f3/b", null],
  ["https://elsewhere.example/ http://h.internal/x", null],
  ["https://elsewhere.example/a b", same],
];

for (const name of ["Location", "Content-Location"]) {
  test(`PRX-10: ${name} is mapped back in every form`, () => expectEach(name, REFERENCES));
}

test("PRX-10: an origin without a path has its host mapped alone", () => {
  const rows = [
    ["http://h:9090/docs/", "https://shop.example/docs/"],
    ["//h:9090/x", "//shop.example/x"],
    ["https://h:9090/x", "https://shop.example/x"],
    ["/docs/", same],
    ["http://h/docs/", same],
    ["http://hh:9090/", same],
  ];
  expectEach("Location", rows, { origin: "http://h:9090" });
});

test("PRX-10: an https origin that writes http, and a client that came by http", () => {
  const secure = { origin: "https://h.internal/s3cr3t" };
  expectEach("Location", [["http://h.internal/s3cr3t/x", "https://shop.example/x"]], secure);
  const plain = { origin: "http://h.internal/s3cr3t", asked: "http://shop.example:8080/a" };
  expectEach("Location", [["http://h.internal/s3cr3t/x", "http://shop.example:8080/x"]], plain);
  const upgrade = { origin: "http://h.internal", asked: "http://shop.example/a" };
  expectEach("Location", [["https://h.internal/x", "https://shop.example/x"]], upgrade);
});

test("PRX-10: the same host under another port or path is no stranger", () => {
  const port = { origin: "http://shop.example:8080", asked: "https://shop.example/a" };
  expectEach("Location", [["http://shop.example:8080/x", "https://shop.example/x"], ["https://shop.example/x", same]], port);
  const path = { origin: "https://shop.example/v2", asked: "https://shop.example/a" };
  expectEach("Location", [["/v2/x", "/x"], ["https://shop.example/v2/x", "https://shop.example/x"], ["/x", same]], path);
});

test("PRX-10: a path of several segments, with escapes, in another case", () => {
  const deep = { origin: "http://h.internal/a/caf%C3%A9/7f3" };
  const rows = [
    ["/a/caf%c3%a9/7f3/x", "/x"],
    ["/a/café/7f3/x", "/x"],
    ["/a//caf%C3%A9/7f3", "/"],
    ["/a/caf%C3%A9", same],
    ["/A/caf%C3%A9/7f3/x", same],
    ["http://[/a/caf%C3%A9/7f3", null],
  ];
  expectEach("Content-Location", rows, deep);
});

test("PRX-10: a request whose own host cannot be read gets paths alone", () => {
  const rows = [["http://h.internal/secret-7f3/x", "/x"], ["/secret-7f3//evil.example", "/evil.example"], ["/x", same]];
  expectEach("Location", rows, { asked: "http://[::1/docs/a" });
});

test("PRX-10: Refresh is mapped back, with its delay and quotes", () => {
  expectEach("Refresh", [
    ["5; url=/secret-7f3/x", "5; url=/x"],
    ["0;URL='http://h.internal/secret-7f3/x'", "0;URL='https://shop.example/x'"],
    ['1.5 , Url = "/secret-7f3/a;b,c"', '1.5 , Url = "/a;b,c"'],
    ["3; /secret-7f3/x", "3; /x"],
    ["3 url=http://h.internal/secret-7f3/x", "3 url=https://shop.example/x"],
    ['0; url="/secret-7f3/x', '0; url="/x"'],
    ["5", same],
    ["5; url=", same],
    ["5; url=/other", same],
    ["5; url=https://elsewhere.example/", same],
    ["5; url=http://[h.internal/", null],
  ]);
});

test("PRX-10: each Set-Cookie line has its path and domain mapped back, and nothing else", () => {
  const rows = [
    ["a=1; Path=/secret-7f3/; HttpOnly", "a=1; Path=/; HttpOnly"],
    ["b=/secret-7f3/x; PATH=/secret-7f3/app; Secure", "b=/secret-7f3/x; PATH=/app; Secure"],
    ["c=3;path=/secret-7f3", "c=3;path=/"],
    ['d=4; Path="/secret-7f3/x"', 'd=4; Path="/x"'],
    ["e=5; Path=/%73ecret-7f3/x", "e=5; Path=/x"],
    ["f=6; Path=/secret-7f30; Expires=Wed, 15 Jan 2031 12:00:00 GMT", same],
    ["g=7; Path=/", same],
    ["h=8; Path=x/secret-7f3/", "h=8"],
    ["i=9; Domain=h.internal; Path=/secret-7f3/x", "i=9; Domain=shop.example; Path=/x"],
    ["j=10; domain=.H.Internal", "j=10; domain=shop.example"],
    ["k=11; Domain=elsewhere.example", same],
    ["l=12; Domain=internal", same],
    ["m=13; Domain=example", same],
    ["n", same],
    ["", same],
  ];
  const lines = rows.map(([line]) => ["set-cookie", line]);
  const expected = rows.map(([line, result]) => (result === same ? line : result));
  assert.deepEqual(mapped(lines).getSetCookie(), expected);
});

test("PRX-10: a cookie's domain above both hosts stays, and one above the origin alone is the client's", () => {
  const both = { origin: "https://o.shop.example", asked: "https://api.shop.example/" };
  expectEach("Set-Cookie", [["a=1; Domain=shop.example", same], ["a=1; Domain=o.shop.example", "a=1; Domain=api.shop.example"]], both);
  const apart = { origin: "https://app.o.example", asked: "https://shop.example/" };
  expectEach("Set-Cookie", [["a=1; Domain=.o.example", "a=1; Domain=shop.example"]], apart);
  for (const asked of ["http://localhost:8787/", "http://127.0.0.1:8787/", "http://[::1]/"]) {
    expectEach("Set-Cookie", [["a=1; Domain=h.internal; Secure", "a=1; Secure"]], { asked });
  }
});

test("PRX-10: the targets of Link are mapped back, and what is quoted stays", () => {
  expectEach("Link", [
    ["</secret-7f3/a,b;c>; rel=preload; as=fetch", "</a,b;c>; rel=preload; as=fetch"],
    [
      '<http://h.internal/secret-7f3/2>; rel="next"; title="a, <b>; \\"c\\"", <//h.internal/secret-7f3/1>;rel=prev',
      '<https://shop.example/2>; rel="next"; title="a, <b>; \\"c\\"", <//shop.example/1>;rel=prev',
    ],
    ['<b>; rel=x; anchor="/secret-7f3/y"', '<b>; rel=x; anchor="/y"'],
    ['<>; Anchor = "http://h.internal/secret-7f3#a"; rel=x', '<>; Anchor = "https://shop.example/#a"; rel=x'],
    [
      '</secret-7f3/a.png>; rel=preload; imagesrcset="/secret-7f3/a.png 1x, /secret-7f3/b.png 2x,/c.png"',
      '</a.png>; rel=preload; imagesrcset="/a.png 1x, /b.png 2x,/c.png"',
    ],
    ["<https://elsewhere.example/secret-7f3>; rel=x", same],
    ['</a>; rel="http://rels.example/internal"', same],
    ["/secret-7f3/style.css; rel=preload", null],
    ["<http://h.internal/x; rel=next", null],
    ["</a>; anchor=/secret-7f3/y", null],
    ["<http://h.internal:99999/>; rel=next, </b>; rel=prev", null],
    ["no link at all", same],
  ]);
  expectEach("Link", [["</x>; rel=h; as=h", same], ["<http://h/p/x>; rel=h", "<https://shop.example/x>; rel=h"]], { origin: "http://h/p" });
});

test("PRX-10: several Link lines are all mapped", () => {
  const lines = [["link", "</secret-7f3/1>; rel=prev"], ["link", "</secret-7f3/2>; rel=next"]];
  assert.equal(mapped(lines).get("link"), "</1>; rel=prev, </2>; rel=next");
});

test("PRX-10: Destination and If of a WebDAV request lead to the origin", () => {
  const sent = (method, name, value, options) => {
    const headers = new Headers([[name, value]]);
    mapRequest(headers, way({ asked: "https://shop.example/a.txt", method, ...options }));
    return headers.get(name);
  };
  for (const [value, result] of [
    ["https://shop.example/b%20c.txt", "http://h.internal/secret-7f3/b%20c.txt"],
    ["HTTPS://Shop.Example:443/b.txt", "http://h.internal/secret-7f3/b.txt"],
    ["http://shop.example/b.txt", "http://h.internal/secret-7f3/b.txt"],
    ["/b.txt", "/secret-7f3/b.txt"],
    ["https://shop.example/../../etc", "http://h.internal/secret-7f3/etc"],
    ["https://shop.example/%2e%2e/etc", "http://h.internal/secret-7f3/etc"],
    ["https://shop.example//b", "http://h.internal/secret-7f3//b"],
    ["https://elsewhere.example/b.txt", same],
    ["https://shop.example:8443/b.txt", same],
    ["http://[", same],
  ]) {
    for (const method of ["MOVE", "COPY"]) assert.equal(sent(method, "destination", value), result === same ? value : result);
    assert.equal(sent("GET", "destination", value), value, "a GET has no destination");
  }
  const lock = "(<opaquelocktoken:1> [\"etag\"]) (Not <DAV:no-lock>)";
  for (const [value, result] of [
    [`<https://shop.example/b> ${lock}`, `<http://h.internal/secret-7f3/b> ${lock}`],
    [`</b> ${lock} <https://shop.example/c> ${lock}`, `</secret-7f3/b> ${lock} <http://h.internal/secret-7f3/c> ${lock}`],
    [lock, lock],
    ["(<https://shop.example/token>)", "(<https://shop.example/token>)"],
  ]) {
    for (const method of ["PUT", "DELETE", "LOCK"]) assert.equal(sent(method, "if", value), result);
  }
});

test("PRX-10: an answer that says of no place is told apart by its headers' names", () => {
  assert.equal(saysWhere(new Headers({ "content-type": "text/html", "x-location": "/", etag: '"a"' })), false);
  for (const name of ["Location", "Content-Location", "Refresh", "Set-Cookie", "Link"]) assert.ok(saysWhere(new Headers({ [name]: "x" })), name);
  assert.equal(wayBack({ url: ASKED }, "", "https://shop.example/docs/a"), undefined, "without an ORIGIN there is no way back to map");
});

test("PRX-10: whatever an answer says, following it leads to the same place, and nothing tells the origin", () => {
  const random = new Random(Random.seed());
  const segments = ["secret-7f3", "secret-7f30", "..", ".", "%2e%2E", "a", "%2F", "", "evil.example", "x%20y", "%73ecret-7f3"];
  const path = () => Array.from({ length: random.below(5) }, () => random.pick(segments)).join("/");
  for (let turn = 0; turn < 20_000; turn++) {
    const asked = `https://shop.example/${random.pick(["", "a", "a/b/", "docs/a?x=1"])}`;
    const begin = random.pick(["http://h.internal", "https://h.internal", "//h.internal", "", "", "/secret-7f3", "https://shop.example"]);
    const value = `${begin}${random.pick(["/", "/", "", "\\"])}${path()}${random.pick(["", "?q=1", "#f"])}`;
    const told = one("location", value, { asked });
    const place = `${value} → ${told}, asked for ${asked}`;
    const { sent } = way({ asked });
    if (!URL.canParse(value, sent)) {
      assert.doesNotMatch(told ?? "", /h\.internal(?![\w-])|\/secret-7f3(?![\w.~-])/, place);
      continue;
    }
    const target = new URL(value, sent);
    const followed = new URL(told, asked);
    if (!/^(h\.internal|shop\.example)\.?$/.test(target.hostname)) {
      assert.equal(told, value);
      continue;
    }
    assert.match(followed.host, /^shop\.example\.?$/, place);
    const within = /^\/+(?:%73|s)ecret-7f3(?=\/|%2f|$)(.*)$/i.exec(target.pathname);
    if (within) assert.equal(followed.pathname.replace(/^%2f/i, "/"), within[1].replace(/^%2f/i, "/") || "/", place);
    else assert.equal(followed.pathname, target.pathname, place);
    assert.equal(followed.search + followed.hash, target.search + target.hash, place);
  }
});
