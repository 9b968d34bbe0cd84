// Retries after a shared limit refuses many callers: their waits are spread over time.
import assert from "node:assert/strict";
import { test } from "node:test";
import { count, inTurn, parallel, refusal, SECOND, start } from "./harness/index.mjs";

const address = (index) => ({ ip: `10.0.${index >> 8}.${index & 255}` });

for (const [rate, perSecond] of [["10/s", 10], ["25/s burst 25", 25], ["1/s", 1]]) {
  test(`OPS-04: callers that ${rate} refuses are spread over as many seconds as it needs to admit them`, async (t) => {
    const edge = await start(t, { vars: { LIMIT_BASE: { global: rate } } });
    const burst = await parallel(200, (index) => edge.get("/", address(index)));
    const passed = count(burst, 200);
    const refused = burst.map((answer, index) => ({ answer, index })).filter(({ answer }) => answer.status === 429);
    assert.ok(refused.length >= 100, `${passed} passed`);
    const due = refused.map(({ answer, index }) => ({ index, wait: refusal(answer, { reason: "over_capacity" }, edge.at).retry_after }));
    const inSecond = new Map();
    for (const { wait } of due) inSecond.set(wait, (inSecond.get(wait) ?? 0) + 1);
    assert.ok([...inSecond.values()].every((callers) => callers <= perSecond), JSON.stringify([...inSecond]));

    // Each caller is admitted at the time that it was told, at the first try.
    const begun = edge.at;
    for (const wait of [...inSecond.keys()].sort((a, b) => a - b).slice(0, 20)) {
      await edge.freeze(begun + wait * SECOND);
      const callers = due.filter((caller) => caller.wait === wait);
      const back = await parallel(callers.length, (nth) => edge.get("/", address(callers[nth].index)));
      assert.equal(count(back, 200), back.length, `callers that were told ${wait} s`);
    }
  });
}

test("a caller that asks again and again keeps its turn and delays no other", async (t) => {
  const edge = await start(t, { vars: { LIMIT_BASE: { global: "1/s" } } });
  await edge.get("/", address(0));
  const [first, second] = await inTurn(2, (index) => edge.get("/", address(index + 1)));
  assert.deepEqual([first, second].map((answer) => answer.headers["retry-after"]), ["1", "2"]);
  const again = await parallel(50, () => edge.get("/", address(2)));
  assert.ok(again.every((answer) => answer.headers["retry-after"] === "2"));
  assert.equal((await edge.get("/", address(3))).headers["retry-after"], "3");
});

test("SDK-11: a caller that its own limit refuses is told the exact waits of as many places as the burst has", async (t) => {
  const edge = await start(t, { vars: { LIMIT_BASE: { per_ip: "5/min" } } });
  const answers = await parallel(105, () => edge.get("/", address(1)));
  const waits = answers.filter(({ status }) => status === 429).map((answer) => Number(answer.headers["retry-after"]));
  assert.deepEqual(waits.sort((a, b) => a - b), [12, 24, 36, 48, ...Array(96).fill(60)]);
  const others = await parallel(6, () => edge.get("/", address(2)));
  assert.equal(count(others, 200), 5);
  assert.equal(others[5].headers["retry-after"], "12", "another caller has places of its own");
});

test("OPS-04: a hundred callers of a limit that cannot be checked are told different waits", async (t) => {
  const edge = await start(t, { vars: { LIMIT_BASE: { per_ip: "5/min", on_error: "closed" } } });
  await edge.fail({ actor: { kind: "throw", flags: { overloaded: true } } });
  const ask = () => parallel(100, (index) => edge.get("/", { ip: `203.0.113.${index}` }));
  const waits = (await ask()).map((answer) => refusal(answer, { reason: "limiter_unavailable" }).retry_after);
  for (let second = 1; second <= 5; second++) {
    const together = waits.filter((wait) => wait === second).length;
    assert.ok(together >= 5 && together <= 40, `${together} at ${second}`);
  }
  assert.ok(waits.every((wait) => wait <= 5));
  assert.deepEqual((await ask()).map(({ headers }) => Number(headers["retry-after"])), waits, "a caller keeps its second");
});
