// Stores that work in part: a full disk, a D1 that is away while actors answer, an actor of another
// version, damaged rows.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { count, inTurn, MINUTE, parallel, problem, refusal, SECOND, start, until } from "./harness/index.mjs";

const ip = "203.0.113.7";

test("STO-03: an actor with a full disk lends nothing, and on_error decides", async (t) => {
  const vars = {
    DURABLE_AFTER: "0s",
    LIMIT_LOCAL: { route: "/local", per_ip: "5/min" },
    LIMIT_ALL: { route: "/all", global: "5/min" },
    LIMIT_OPEN: { route: "/open", per_ip: "5/min", on_error: "open" },
  };
  const edge = await start(t, { vars });
  await edge.fail({ disk: true });
  assert.equal(count(await parallel(20, () => edge.get("/local", { ip })), 200), 5);
  for (const answer of await inTurn(3, () => edge.get("/all", { ip }))) problem(answer, { reason: "limiter_unavailable", limit: "all/global" });
  assert.equal(count(await inTurn(10, () => edge.get("/open", { ip })), 200), 10);
  await until(() => edge.records.some(({ problem = "" }) => problem.includes("SQLITE_FULL")));
  await edge.fail({ disk: null });
  await edge.advance(MINUTE);
  assert.equal(count(await inTurn(7, () => edge.get("/all", { ip })), 200), 5);
  const again = await inTurn(7, () => edge.get("/local", { ip }));
  assert.equal(count(again, 200), 5);
  refusal(again.at(-1), { reason: "rate_limited", limit: "local/ip" }, edge.at);
  await until(() => edge.records.some(({ event, place }) => event === "restored" && place === "local/ip"));
});

test("STO-05: an actor of another version is not believed, and logged once", async (t) => {
  const edge = await start(t, { vars: { TRACE: "header", LIMIT_X: { route: "/*", per_ip: "5/min" } } });
  const newer = '{"v":2,"outcomes":[{"met":{"left":4000,"more":0}}],"grants":[{"count":4000,"first":0}],"horizon":1,"d1":0,"rows":0}';
  await edge.fail({ actor: { kind: "says", texts: [newer] } });
  const answers = await inTurn(20, () => edge.get("/", { ip }));
  assert.equal(count(answers, 200), 5, "the isolate counts by itself");
  assert.match(answers[0].headers["penstock-trace"], /, unchecked=1$/);
  assert.match(answers[0].headers["penstock-trace"], /^actors=1/);
  assert.match(answers[4].headers["penstock-trace"], /^actors=0/, "the actor is not called any more");
  const warnings = () => edge.records.filter(({ event }) => event === "warning");
  await until(() => warnings().length > 0);
  assert.deepEqual(warnings().map(({ place }) => place), ["x/ip"]);
  assert.match(warnings()[0].problem, /version 2, expected 1.*no caller gets more than the limit/);
  await edge.fail({ actor: null });
  await edge.advance(12 * SECOND);
  const back = await inTurn(3, () => edge.get("/", { ip }));
  assert.equal(count(back, 200), 1, "the actor has heard of the requests that passed without it");
  assert.doesNotMatch(back[0].headers["penstock-trace"], /unchecked/);
});

test("QTA-05: without D1 rates hold, and a quota lasts as long as its prepaid tokens", async (t) => {
  const vars = {
    DEADLINE: "400ms",
    LIMIT_SHUT: { route: "/shut", per_ip: "1000/min", per_key: "100000/day", on_error: "closed" },
    LIMIT_RATE: { route: "/rate", per_ip: "5/min", per_key: "100000/day", on_error: "open" },
  };
  const edge = await start(t, { vars });
  const shut = () => edge.get("/shut", { ip, key: "k" });
  // Fast enough that the actor prepays quota.
  for (let tick = 0; tick < 40; tick++) {
    await parallel(4, shut);
    await edge.advance(20);
  }
  await edge.fail({ d1: { kind: "hang", ms: 60_000 } });
  const before = (await edge.asked()).d1;
  const went = count(await inTurn(400, shut), 200);
  assert.ok(went > 5 && went < 400, `${went} passed with prepaid quota`);
  problem(await shut(), { reason: "limiter_unavailable", limit: "shut/key" });
  assert.ok((await edge.asked()).d1 - before <= 2, "a D1 that hangs is asked no more");
  const rates = await inTurn(8, () => edge.get("/rate", { ip: "203.0.113.9", key: "other" }));
  assert.equal(count(rates, 200), 5, "rates hold");
  refusal(rates.at(-1), { limit: "rate/ip" }, edge.at);
  await edge.fail({ d1: null });
  await edge.advance(20 * SECOND);
  assert.equal((await shut()).status, 200);
});

test("quota that D1 does not take back is logged, and other actors keep theirs for later", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { route: "/*", per_key: "100000/day" } } });
  const keys = Array.from({ length: 60 }, (_, key) => `k${key}`);
  // Fast enough that the actors prepay quota.
  for (let tick = 0; tick < 12; tick++) {
    await Promise.all(keys.map((key) => inTurn(3, () => edge.get("/", { ip, key }))));
    await edge.advance(20);
  }
  const told = () => edge.records.filter(({ problem }) => problem?.includes("may be lost"));
  // The isolate returns idle quota to its actors.
  await edge.advance(2 * SECOND);
  await sleep(2_500);
  await edge.fail({ d1: { kind: "throw" } });
  await edge.advance(7 * SECOND);
  const before = (await edge.asked()).d1;
  const actors = await edge.alarms();
  await until(() => told().length > 0);
  const tries = (await edge.asked()).d1 - before;
  t.diagnostic(`${told().length} lines, ${tries} statements, ${actors} actors`);
  assert.ok(actors < keys.length && tries <= actors && told().length <= actors, `${told().length} lines`);
  const used = async () => (await edge.d1("SELECT sum(used) AS used FROM quota"))[0].used;
  const most = await used();
  await edge.fail({ d1: null });
  t.diagnostic(`${await edge.alarms()} alarms`);
  t.diagnostic(`${edge.origin.count} used, ${most} counted, and ${await used()} in the end`);
  assert.ok(most - (await used()) > (most - edge.origin.count) / 4, "the quota of the other actors is returned");
});

test("an actor's impossible reply does not change the waits of later refusals", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { route: "/*", global: "5/min" } } });
  const says = '{"v":1,"outcomes":[{"full":{"wait":1000000000000000}}],"grants":[null],"horizon":250000000,"d1":0,"rows":0}';
  await edge.fail({ actor: { kind: "reply", headers: { "penstock-reply": says } } });
  problem(await edge.get("/x", { ip }), { reason: "limiter_unavailable" });
  await edge.fail({ actor: null });
  await edge.advance(20 * SECOND);
  const answers = await inTurn(7, (index) => edge.get("/x", { ip: `198.51.100.${index}` }));
  assert.equal(count(answers, 200), 5);
  assert.ok(Number(answers.at(-1).headers["retry-after"]) <= 60, answers.at(-1).headers["retry-after"]);
});

test("a damaged row of a permit holder counts for one term, and then no more", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { route: "/*", in_flight: "4" } }, isolates: 2 });
  assert.equal((await edge.get("/x", { ip })).status, 200);
  for (const row of ["'0123456789abcdef', 'many', 0, 1", "'nobody', 1, -1, 1", "'fedcba9876543210', -4, 9e18, 2.5"]) {
    await edge.damage("in-flight", `INSERT OR REPLACE INTO holder (id, slots, until, number) VALUES (${row})`);
    await edge.evict();
    const other = await edge.get("/x", { ip, isolate: 1 });
    assert.equal(other.json.reason, "over_capacity", row);
    await edge.advance(11 * SECOND);
    assert.equal((await edge.get("/x", { ip, isolate: 1 })).status, 200, row);
    await edge.advance(30 * SECOND);
  }
});

test("nonsense from a cap's actor refuses no request that on_error admits", async (t) => {
  // Four permits free and none lent; a share of nothing; ten seconds until the next question.
  for (const text of ["1 0 1 4 4 10000 10000 1", "1 0 0 0 0 0 10000 1"]) {
    const edge = await start(t, { vars: { LIMIT_ALL: { route: "/*", in_flight: "4", on_error: "open" } } });
    await edge.run();
    await edge.fail({ actor: { kind: "reply", headers: { "penstock-slots": text } } });
    assert.equal((await edge.get("/x", { ip })).status, 200, text);
    await edge.fail({ actor: null });
    await sleep(1_000);
    assert.equal((await edge.get("/x", { ip })).status, 200, text);
  }
});
