// ORIGIN_SECRET: the origin gets it with every request, from Penstock alone, and nobody else does.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { openSocket, problem, start } from "./harness/index.mjs";

const ip = "203.0.113.7";
const NAME = "penstock-origin-secret";
const SECRET = "q9Zr1hP0c3v7nT5sXw2k8yB4mJ6dL+/f";
const limits = { LIMIT_BASE: { per_ip: "1000/min" }, LIMIT_CAP: { route: "/cap", in_flight: "9" }, LIMIT_SPENT: { route: "/spent", per_ip: "1/h" } };
const vars = { ...limits, LIMIT_SLOW: { route: "/slow", timeout: "5s" }, LIMIT_FREE: { route: "/free", exempt: true } };
const edge = await start({ after }, { vars: { ...vars, ORIGIN_SECRET: `${SECRET}\n` } });

/** The client's own attempts to name a secret. */
const forged = [[], [[NAME, "guess"]], [["Penstock-Origin-Secret", "guess"], [NAME, SECRET]], [[NAME, ""]]];
const secrets = ({ origin }) => origin.last.lines.filter(([name]) => name === NAME).map(([, value]) => value);

for (const path of ["/", "/cap", "/slow", "/free", "/../x"]) {
  test(`the origin gets the secret once with a request for ${path}, whatever the client sends`, async () => {
    for (const headers of forged) {
      assert.equal((await edge.get(path, { ip, headers })).status, 200);
      assert.deepEqual(secrets(edge), [SECRET]);
    }
  });
}

test("the origin gets the secret with a WebSocket", async () => {
  const { status, client } = await openSocket(edge.url(), { ip });
  assert.equal(status, 101);
  assert.deepEqual(secrets(edge), [SECRET]);
  client.terminate();
});

test("a client's own secret does not reach an origin without one, nor a route's own origin", async (t) => {
  for (const options of [{ vars }, { vars: { ...vars, ORIGIN_SECRET: SECRET }, outbound: true, origin: () => null }]) {
    const other = await start(t, options);
    for (const headers of forged) {
      for (const path of ["/", "/cap"]) {
        assert.equal((await other.get(path, { ip, headers })).status, 200);
        assert.deepEqual(secrets(other), []);
      }
    }
    const idle = other.records.filter(({ place, problem }) => place === "ORIGIN_SECRET" && /no ORIGIN/.test(problem));
    assert.equal(idle.length, options.outbound ? 1 : 0, JSON.stringify(other.records));
  }
});

test("the secret is in no answer and in no log line", async (t) => {
  const gone = await start(t, { vars: { ...vars, ORIGIN_SECRET: SECRET, TRACE: "header" }, origin: () => "http://127.0.0.1:9" });
  const broken = await start(t, { vars: { ...vars, ORIGIN_SECRET: `${SECRET} ${SECRET}` } });
  problem(await broken.get("/", { ip }), { reason: "misconfigured", status: 500 });
  assert.match(JSON.stringify(broken.logs), /ORIGIN_SECRET: a space, or a character/);
  await edge.get("/spent", { ip });
  const answers = [await edge.get("/", { ip }), await edge.get("/spent", { ip }), await edge.get("/?as=reset", { ip })];
  for (const path of ["/", "/cap", "/slow"]) answers.push(await gone.get(path, { ip }));
  assert.deepEqual(answers.map(({ status }) => status), [200, 429, 502, 502, 502, 502]);
  const told = JSON.stringify([answers.map(({ lines, text }) => [lines, text]), edge.logs, gone.logs, broken.logs]);
  assert.ok(!told.includes(SECRET.slice(0, 8)), told);
});
