// State that outlives an eviction, a crash and a deploy, and its deletion.
import assert from "node:assert/strict";
import { test } from "node:test";
import { count, DAY, HOUR, inTurn, MINUTE, parallel, refusal, SECOND, start } from "./harness/index.mjs";

const ip = "203.0.113.7";
const key = "k";

for (const [what, happens] of [
  ["an eviction", (edge) => edge.evict()],
  ["a crash", (edge) => edge.crash()],
  ["a restart", (edge) => edge.restart()],
]) {
  test(`STO-02: a limit that is used up stays so after ${what}`, async (t) => {
    const vars = {
      LIMIT_IP: { route: "/ip", per_ip: "5/h" },
      LIMIT_KEY: { route: "/key", per_key: "5/h" },
      LIMIT_ALL: { route: "/all", global: "5/h" },
      LIMIT_QUOTA: { route: "/quota", per_key: "5/day" },
    };
    const edge = await start(t, { vars });
    const paths = ["/ip", "/key", "/all", "/quota"];
    for (const path of paths) assert.ok(count(await inTurn(9, () => edge.get(path, { ip, key })), 200) <= 5, path);
    await happens(edge);
    edge.origin.forget();
    for (const path of paths) {
      const [answer] = await inTurn(3, () => edge.get(path, { ip, key }));
      refusal(answer, { reason: { "/all": "over_capacity", "/quota": "quota_exhausted" }[path] ?? "rate_limited" }, edge.at);
    }
    assert.equal(edge.origin.count, 0);
    await edge.advance(12 * MINUTE);
    assert.equal(count(await inTurn(3, () => edge.get("/ip", { ip })), 200), 1, "a token comes back in its time");
  });
}

test("a crash between any two requests admits no more than the limit", async (t) => {
  const vars = { DURABLE_AFTER: "0s", LIMIT_X: { route: "/x", per_ip: "10/h", per_key: "8/day", global: "9/h" } };
  const edge = await start(t, { vars });
  for (let round = 0; round < 12; round++) {
    await parallel(3, () => edge.get("/x", { ip, key }));
    await (round % 2 ? edge.evict() : edge.crash());
  }
  assert.ok(edge.origin.count <= 8, `${edge.origin.count} of 8`);
  assert.ok(edge.origin.count >= 1);
});

test("a debt shorter than DURABLE_AFTER is not stored, and a longer one is", async (t) => {
  const vars = { LIMIT_SHORT: { route: "/short", per_ip: "1/s" }, LIMIT_LONG: { route: "/long", per_ip: "1/min" } };
  const edge = await start(t, { vars });
  const rows = async () => (await edge.objects()).flatMap(({ tables }) => Object.values(tables).flat()).length;
  assert.equal((await edge.get("/short", { ip })).status, 200);
  assert.equal(await rows(), 0);
  assert.equal((await edge.get("/long", { ip })).status, 200);
  assert.ok((await rows()) > 0);
  await edge.evict();
  refusal(await edge.get("/long", { ip }), {}, edge.at);
});

test("STO-06: ten thousand addresses with one request each leave no row behind", async (t) => {
  const edge = await start(t, { vars: { LIMIT_X: { route: "/*", per_ip: "5/min" } } });
  const address = (index) => `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;
  for (let from = 0; from < 10_000; from += 200) {
    const answers = await parallel(200, (index) => edge.get("/", { ip: address(from + index) }));
    assert.equal(count(answers, 200), 200);
  }
  const after = await edge.objects();
  const alarms = after.reduce((sum, { alarmsSet }) => sum + alarmsSet, 0);
  assert.ok(alarms <= after.length * 2, `${alarms} alarms set by ${after.length} objects`);
  assert.ok(after.length > 0 && after.length <= 300, `${after.length} objects for callers that will not be seen again`);
  for (let rounds = 0; rounds < 5; rounds++) {
    await edge.advance(10 * MINUTE);
    if ((await edge.alarms()) === 0) break;
  }
  for (const { name, alarmAt, tables } of await edge.objects()) {
    assert.equal(Object.values(tables).flat().length, 0, `${name} is empty`);
    assert.equal(alarmAt, null, `${name} sleeps`);
  }
  assert.equal((await edge.get("/", { ip })).status, 200);
});

test("a clock that stepped back during a restart locks no caller out", async (t) => {
  const edge = await start(t, { vars: { LIMIT_X: { route: "/*", per_ip: "5/h" } } });
  await inTurn(5, () => edge.get("/", { ip }));
  edge.at -= DAY;
  await edge.restart();
  const { retry_after } = refusal(await edge.get("/", { ip }));
  assert.ok(retry_after <= 3600, `a wait of ${retry_after} s`);
  await edge.advance(DAY + HOUR);
  assert.equal((await edge.get("/", { ip })).status, 200);
});

test("the cron deletes the counts of days older than RETENTION", async (t) => {
  const edge = await start(t, { vars: { RETENTION: 7, LIMIT_API: { route: "/v1", per_key: "5/day" } } });
  await edge.get("/v1", { key });
  const days = ["2030-01-15", "2031-01-01", "2031-01-06", "2031-01-09", "2031-01-14"];
  for (const day of days) await edge.d1("INSERT INTO quota (day, name, subject, used) VALUES (?, 'api/key', 'x', 3)", day);
  await edge.scheduled();
  // A period is over when its last day is, whatever the row is called.
  for (const [day, until] of [["2030-11", "2030-11-30"], ["2030-12-29", "2031-01-08"], ["2031-W01", "2031-01-07"], ["2031", "2031-12-31"]]) {
    await edge.d1("INSERT INTO quota (day, name, subject, used, until) VALUES (?, 'api key', 'x', 3, ?)", day, until);
  }
  await edge.scheduled();
  const left = await edge.d1("SELECT day FROM quota ORDER BY day");
  assert.deepEqual(left.map(({ day }) => day), ["2030-12-29", "2031", "2031-01-09", "2031-01-14", "2031-01-15"]);
  const [{ until }] = await edge.d1("SELECT until FROM quota WHERE name = 'api key quota day UTC'");
  assert.equal(until, "2031-01-15");
  await edge.fail({ d1: { kind: "throw" } });
  await edge.scheduled();
  assert.equal((await edge.get("/none")).status, 200, "a cron that fails harms no request");
});

test("a wait that a restart interrupts ends at the time that was told", async (t) => {
  const edge = await start(t, { vars: { LIMIT_X: { route: "/*", per_ip: "5/h" } } });
  await inTurn(5, () => edge.get("/", { ip }));
  const { retry_after } = refusal(await edge.get("/", { ip }), {}, edge.at);
  edge.at += retry_after * SECOND;
  await edge.restart();
  const answers = await inTurn(2, () => edge.get("/", { ip }));
  assert.deepEqual(answers.map(({ status }) => status), [200, 429]);
});
