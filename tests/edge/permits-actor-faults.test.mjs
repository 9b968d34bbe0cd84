// Faults of the actor that lends a cap's permits: it crashes, hangs, or sends nonsense.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { count, parallel, start, until } from "./harness/index.mjs";

const ip = "203.0.113.7";

test("an actor that crashes again and again lends no permit twice and stops no client for long", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { route: "/*", in_flight: "10" } }, isolates: 2 });
  await edge.run();
  let running = true;
  const passed = [];
  const traffic = parallel(40, async (lane) => {
    while (running) {
      const answer = await edge.get("/x?as=slow&ms=60", { ip, isolate: lane % 2 });
      if (answer.status === 200) passed.push(performance.now());
      else await sleep(15);
    }
  });
  for (let crash = 0; crash < 5; crash++) {
    await sleep(700);
    await edge.crash();
  }
  await sleep(1_000);
  running = false;
  await traffic;
  const gaps = passed.slice(1).map((at, index) => at - passed[index]);
  t.diagnostic(`${passed.length} passed, at most ${edge.origin.most} at once, longest gap ${Math.round(Math.max(...gaps))} ms`);
  assert.ok(edge.origin.most <= 10, `${edge.origin.most} at once`);
  assert.ok(Math.max(...gaps) < 2_000, `${Math.max(...gaps)} ms without an admission`);
});

test("permits held before a restart count for one term, and are then free", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { route: "/*", in_flight: "4" } } });
  await edge.run();
  const lost = parallel(4, () => edge.get("/x?as=slow&ms=20000", { ip }).catch(() => {}));
  await until(() => edge.origin.under === 4);
  await edge.restart();
  await edge.run();
  await lost;
  const begun = performance.now();
  assert.equal((await edge.get("/x", { ip })).status, 503, "the requests that held the permits may still be at the origin");
  await sleep(9_000);
  await edge.untilAdmitted("/x", { ip });
  const took = performance.now() - begun;
  t.diagnostic(`${Math.round(took)} ms`);
  assert.ok(took < 11_500, `${took} ms`);
  assert.equal(count(await parallel(4, () => edge.get("/x?as=slow&ms=500", { ip })), 200), 4);
});

test("an actor's nonsense lends no permit", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { route: "/*", in_flight: "4" } } });
  for (const text of ["1 999 999 999 999 10000 50 1", "2 4 4 4 0 10000 50 1", "1 4", "\u00ff", ""]) {
    await edge.fail({ actor: { kind: "reply", headers: { "penstock-slots": text } } });
    assert.equal((await edge.get("/x", { ip })).json.reason, "limiter_unavailable", text);
    await edge.advance(2_000);
  }
  await edge.fail({ actor: null });
  await edge.advance(16_000); // the longest pause is over
  assert.equal((await edge.get("/x", { ip })).status, 200);
});

test("a cap whose actor fails does what on_error says", async (t) => {
  const x = (on_error) => ({ route: `/${on_error}`, in_flight: "4", on_error });
  const vars = { DEADLINE: "100ms", LIMIT_A: x("closed"), LIMIT_B: x("open"), LIMIT_C: x("local") };
  const edge = await start(t, { vars });
  await edge.run();
  for (const mode of ["closed", "open", "local"]) await parallel(3, () => edge.get(`/${mode}?as=slow&ms=50`, { ip }));
  await sleep(2_500); // every permit is given back
  await edge.fail({ actor: { kind: "throw" } });
  const passed = {};
  for (const mode of ["closed", "open", "local"]) {
    const answers = await parallel(20, () => edge.get(`/${mode}?as=slow&ms=300`, { ip }));
    passed[mode] = count(answers, 200);
    for (const answer of answers.filter(({ status }) => status !== 200)) assert.equal(answer.status, 503);
    if (mode === "closed") assert.equal(answers[0].json.reason, "limiter_unavailable");
  }
  assert.equal(passed.closed, 0);
  assert.equal(passed.open, 20);
  assert.ok(passed.local >= 1 && passed.local <= 4, `${passed.local}`);
  await edge.fail({ actor: null });
  await edge.untilAdmitted("/closed", { ip });
});

test("a cap holds while its actor is slow, with a long DEADLINE too", async (t) => {
  const edge = await start(t, { vars: { DEADLINE: "5s", LIMIT_ALL: { route: "/*", in_flight: "4" } } });
  await edge.run();
  const long = parallel(4, () => edge.get("/x?as=slow&ms=9500", { ip }));
  await until(() => edge.origin.under === 4);
  await sleep(800);
  await edge.fail({ actor: { kind: "hang", ms: 6_000 } });
  await sleep(5_700);
  await parallel(4, () => edge.get("/x?as=slow&ms=1500", { ip }));
  await long;
  assert.equal(edge.origin.most, 4);
});
