// The path and query that the origin receives, row by row as docs/reading.md has them, and the limits of a path in
// several spellings.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { inTurn, rawRequest, ROOT, sendRaw, start } from "./harness/index.mjs";

const reading = JSON.parse(await readFile(join(ROOT, "tests/data/reading.json"), "utf8"));

/** One request whose target has exactly these characters, in UTF-8. */
const sendTarget = (edge, target) => {
  const headers = [["CF-Connecting-IP", "203.0.113.7"]];
  return sendRaw(edge.url(), rawRequest({ target: Buffer.from(target).toString("latin1"), headers }));
};

const vars = { LIMIT_BASE: { per_ip: "1000/s" } };
const ways = {
  "to ORIGIN": { options: { vars } },
  "to ORIGIN, below a path": { options: { vars, origin: (url) => `${url}/below` }, below: "/below" },
  "to the route's own origin": { options: { vars: { ...vars, ORIGIN: null }, outbound: true } },
};

for (const [way, { options, below = "" }] of Object.entries(ways)) {
  test(`RED-11: the origin receives a path as the page on readings says: ${way}`, async (t) => {
    const edge = await start(t, options);
    for (const [sent, received] of reading.forwarded.flatMap(({ cases }) => cases)) {
      edge.origin.forget();
      assert.equal((await sendTarget(edge, sent)).status, 200, sent);
      assert.equal(edge.origin.last?.url, below + received, sent);
    }
  });
}

const edge = await start({ after }, { vars: { LIMIT_LOGIN: { route: ["POST /login", "POST /login.json"], per_ip: "3/min" } } });

test("RED-10: a route that lists a path and its format suffix counts both together, and no other suffix", async () => {
  const who = await edge.newCaller();
  const paths = ["/login", "/login.json", "/login%2ejson", "/login", "/login.json", "/login.xml"];
  const answers = await inTurn(paths.length, (index) => edge.post(paths[index], who));
  assert.deepEqual(answers.map(({ status }) => status), [200, 200, 200, 429, 429, 200]);
});

test("RED-11: a path meets the same limit before and after the platform has read it", async () => {
  const who = await edge.newCaller();
  const post = (target) => sendRaw(edge.url(), rawRequest({ method: "POST", target, headers: [["CF-Connecting-IP", who.ip]], body: Buffer.from("x") }));
  const answers = await inTurn(4, (index) => post(["/x/../login", "/login#top", "/x\\..\\login", "/login"][index]));
  assert.deepEqual(answers.map(({ status }) => status), [200, 200, 200, 429]);
});
