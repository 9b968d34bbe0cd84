// A refusal in the format that its client accepts: problem details, a page, a line of text, the
// status of gRPC-Web, or the error of Connect.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, test } from "node:test";
import { count, MINUTE, parallel, problem, rawRequest, refusal, sendRaw, start } from "./harness/index.mjs";

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8";
const HOSTILE = `</p><script>alert("1")</script><img src=x onerror='alert(2)'> & 100% {{script}} 水`;
const who = { ip: "203.0.113.7", key: "k" };

const vars = {
  LIMIT_X: { route: "/x", per_ip: "5/min" },
  LIMIT_SAID: { route: "/said", per_ip: "5/min", message: HOSTILE, docs: "https://example.com/?a='b'&c=%3Cd%3E" },
  LIMIT_DAY: { route: "/day", per_key: "1/day Asia/Shanghai" },
  LIMIT_CROWD: { route: "/crowd", global: "5/min" },
  LIMIT_CLOSED: { route: "/closed", per_ip: "5/min", on_error: "closed" },
};
const edge = await start({ after }, { vars });

/** Uses up the limits of these routes for `who`. */
async function spend() {
  for (const path of ["/x", "/said", "/day", "/crowd"]) await parallel(6, () => edge.get(path, who));
}
await spend();

const ask = (path, accept, { method = "GET", headers = [] } = {}) =>
  edge.send({ method, path, ...who, headers: [...(accept === undefined ? [] : [["accept", accept]]), ...headers] });

test("a client gets problem details unless it prefers another format that is available", async () => {
  const json = ["application/json", "application/problem+json", "application/json, text/plain, */*"];
  for (const accept of [undefined, "", "*/*", ...json, "image/png", "application/xml", "text/html;q=0", "nonsense"]) {
    const body = refusal(await ask("/x", accept), { limit: "x/ip" }, edge.at);
    assert.equal(body.message, undefined);
  }
  const said = refusal(await ask("/said", "*/*"), { limit: "said/ip", message: HOSTILE }, edge.at);
  assert.equal(said.docs, "https://example.com/?a='b'&c=%3Cd%3E");
});

test("a browser gets a small page that loads no other resource", async () => {
  for (const path of ["/x", "/day", "/crowd"]) {
    for (const [language, lang] of [["en", "en"], ["zh-CN,zh;q=0.9", "zh-Hans"]]) {
      const answer = await ask(path, BROWSER, { headers: [["accept-language", language]] });
      assert.equal(answer.status, 429);
      assert.equal(answer.headers["content-type"], "text/html; charset=utf-8");
      assert.equal(answer.headers["content-language"], lang);
      assert.match(answer.headers["retry-after"], /^[1-9][0-9]*$/);
      assert.equal(answer.headers["cache-control"], "no-store");
      assert.equal(answer.headers.vary, "Accept, Accept-Language, Origin");
      assert.match(answer.text, new RegExp(`^<!doctype html>\\n<html lang="${lang}">`));
      assert.ok(answer.body.length < 6_000, `${answer.body.length} bytes`);
      assert.doesNotMatch(answer.text, /https?:|src=|@import|url\(/);
    }
  }
});

test("the page's security policy names the hashes of its style and script", async () => {
  const { headers, text } = await ask("/x", BROWSER);
  const hash = (name) => createHash("sha256").update(new RegExp(`<${name}>([^]*?)</${name}>`).exec(text)[1]).digest("base64");
  assert.equal(
    headers["content-security-policy"],
    `default-src 'none'; style-src 'sha256-${hash("style")}'; script-src 'sha256-${hash("script")}'; ` +
      "img-src data:; base-uri 'none'; form-action 'none'",
  );
});

test("the page escapes the operator's message", async () => {
  const { text, headers } = await ask("/said", BROWSER);
  assert.equal(text.match(/<script/g).length, 1);
  assert.equal(text.match(/<img/g), null);
  assert.ok(text.includes("&lt;/p&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;"));
  assert.equal(headers.link, `<https://example.com/?a='b'&c=%3Cd%3E>; rel="help"`);
});

test("a client that prefers plain text gets one line", async () => {
  const answer = await ask("/said", "text/plain");
  assert.equal(answer.status, 429);
  assert.equal(answer.headers["content-type"], "text/plain; charset=utf-8");
  assert.match(answer.text, /^Too many requests from this address: said\/ip allows 5\/min\. [^\n]*\n$/);
  assert.ok(answer.text.includes(HOSTILE), "plain text is not escaped");
});

test("HEAD gets the head of GET in each format, without a body", async () => {
  for (const accept of ["*/*", BROWSER, "text/plain"]) {
    const [get, head] = await Promise.all(["GET", "HEAD"].map((method) => ask("/x", accept, { method })));
    assert.equal(head.status, 429);
    assert.equal(head.body.length, 0);
    for (const name of ["content-type", "retry-after", "ratelimit", "ratelimit-policy", "vary"]) {
      assert.ok(get.headers[name], name);
      assert.equal(head.headers[name], get.headers[name], name);
    }
  }
});

const GRPC_WEB = [
  ["application/grpc-web+proto", "application/grpc-web+proto"],
  ["application/grpc-web-text", "application/grpc-web-text+proto"],
];
for (const [type, answered] of GRPC_WEB) {
  test(`a refused ${type} call gets its gRPC status in the head`, async () => {
    const grpc = async (path) => {
      const headers = [["content-type", type], ["x-grpc-web", "1"], ["origin", "https://app.example"]];
      const answer = await edge.post(path, { ...who, headers, body: "\0\0\0\0\0" });
      assert.equal(answer.status, 200);
      assert.equal(answer.headers["content-type"], answered);
      assert.equal(answer.body.length, 0);
      assert.match(answer.headers["retry-after"], /^[1-9][0-9]*$/);
      assert.match(answer.headers["access-control-expose-headers"], /Grpc-Status, Grpc-Message/);
      assert.match(answer.headers["grpc-message"], /^[ -~]+$/);
      return [answer.headers["grpc-status"], decodeURIComponent(answer.headers["grpc-message"])];
    };
    // The actor is asked again, whatever became of it in a test before this one.
    await edge.advance(MINUTE);
    await spend();
    const [status, message] = await grpc("/said");
    assert.equal(status, "8");
    assert.ok(message.includes(HOSTILE), message);
    await edge.fail({ actor: { kind: "throw", flags: { overloaded: true } } });
    const [unavailable] = await grpc("/closed");
    await edge.fail({ actor: null });
    assert.equal(unavailable, "14");
  });
}

/** The headers and the body of a call by the Connect protocol. */
const CONNECT = {
  unary: { headers: [["content-type", "application/proto"], ["connect-protocol-version", "1"]], body: "" },
  json: { headers: [["content-type", "application/json"], ["connect-protocol-version", "1"]], body: "{}" },
  stream: { headers: [["content-type", "application/connect+proto"], ["connect-protocol-version", "1"]], body: "\0\0\0\0\0" },
};

test("SDK-13: a refused unary call gets the error of the Connect protocol", async () => {
  await edge.advance(MINUTE);
  await spend();
  const calls = ["unary", "json"].map((kind) => edge.post("/said", { ...who, ...CONNECT[kind] }));
  calls.push(edge.get("/said?connect=v1&encoding=json&message=%7B%7D", who));
  for (const { status, headers, json } of await Promise.all(calls)) {
    assert.equal(status, 429);
    assert.equal(headers["content-type"], "application/json");
    assert.match(headers["retry-after"], /^[1-9][0-9]*$/);
    assert.deepEqual(Object.keys(json), ["code", "message"]);
    assert.equal(json.code, "resource_exhausted");
    assert.ok(json.message.includes(HOSTILE), json.message);
  }
});

test("SDK-13: a refused stream ends with the error of the Connect protocol", async () => {
  for (const path of ["/x", "/said"]) {
    const { status, headers, body } = await edge.post(path, { ...who, ...CONNECT.stream });
    assert.equal(status, 200);
    assert.equal(headers["content-type"], "application/connect+proto");
    assert.equal(body[0], 2);
    assert.equal(body.readUInt32BE(1), body.length - 5);
    assert.match(headers["retry-after"], /^[1-9][0-9]*$/);
    const { error } = JSON.parse(body.subarray(5).toString());
    assert.equal(error.code, "resource_exhausted");
    assert.match(error.message, /^Too many requests from this address: /);
  }
});

test("CF-04: very long Accept and Accept-Language lines are answered", async () => {
  const items = ["text/html;q=0.1,", ",", ";q=", '"', "\\", '=;=,"\\', "\x80\xff,", "*/*;q=1,"];
  const floods = items.map((item) => item.repeat(Math.floor(14_000 / item.length)));
  const answers = await parallel(floods.length * 2, (index) => {
    const flood = floods[index >> 1];
    const headers = [
      ["X-API-Key", "k"],
      ["CF-Connecting-IP", who.ip],
      [index % 2 ? "Accept" : "Accept-Language", flood],
      ["Accept", "text/plain"],
      ["Content-Type", "application/json"],
    ];
    return sendRaw(edge.url(), rawRequest({ target: "/x", headers }));
  });
  assert.equal(count(answers, 429), answers.length, answers.map(({ status }) => status).join());
  const ordinary = await parallel(20, (index) => edge.get("/free", { ip: `203.0.113.${100 + index}` }));
  assert.equal(count(ordinary, 200), 20);
});

test("a misconfiguration is answered in the accepted format too", async (t) => {
  const broken = await start(t, { vars: { LIMIT_X: { route: "/x", per_ip: "5/minn" } } });
  problem(await broken.get("/x"), { reason: "misconfigured" });
  const page = await broken.get("/x", { headers: [["accept", BROWSER], ["accept-language", "zh"]] });
  assert.equal(page.status, 500);
  assert.match(page.text, /<html lang="zh-Hans">/);
});
