// Retry-After is true: a caller that waits exactly as long, and is alone, is admitted. This holds
// for every kind of limit, and for several that refuse at once.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inTurn, parallel, Random, rateHeaders, refusal, SECOND, start, until } from "./harness/index.mjs";

const ip = "203.0.113.7";
const EVE_OF_SPRING = Date.parse("2031-03-09T04:30:00Z");

const LIMITS = {
  "one request at a time": { LIMIT_X: { route: "/x", per_ip: "1/s" } },
  "a very slow rate": { LIMIT_X: { route: "/x", per_ip: "1/30d burst 3" } },
  "an odd rate with a cost": { LIMIT_X: { route: "/x", per_key: "9973/97s burst 13", cost: 7 } },
  "two rates of an address": { LIMIT_X: { route: "/x", per_ip: ["2/s", "5/min"] } },
  "a rate of an address and one of a key": { LIMIT_X: { route: "/x", per_ip: "3/min", per_key: "6/min burst 1" } },
  "two quotas of a key, whose days end at other times": { LIMIT_X: { route: "/x", per_key: ["5/day", "3/day America/New_York"], per_ip: "2/min" } },
  "a rate of an address and a shared one": { LIMIT_X: { route: "/x", per_ip: "2/s", global: "5/min" } },
  "a shared rate that is faster than an address's": { LIMIT_X: { route: "/x", per_ip: "4/min", global: "10/min burst 1" } },
  "rates of every kind": { LIMIT_BASE: { per_ip: "3/s", global: "9/min" }, LIMIT_X: { route: "/x", per_key: "4/30s", cost: 2, global: "20/min" } },
  "a quota of an address and a shared rate over a longer time": { LIMIT_X: { route: "/x", per_ip: "4/day", global: "2/30h burst 1" } },
  "a quota of an address and one of a key that ends later": { LIMIT_X: { route: "/x", per_ip: "3/day", per_key: "2/day America/New_York", global: "5/h" } },
  "a rate of an address and a shared quota": { LIMIT_X: { route: "/x", per_ip: "2/s", global: ["5/min", "12/day"] } },
  "a shared rate that warms up": { LIMIT_X: { route: "/x", per_ip: "1/s", global: "20/min", warmup: "30s" } },
};

for (const [name, vars] of Object.entries(LIMITS)) {
  test(`HDR-03: a caller that waits as long as it was told is admitted: ${name}`, async (t) => {
    const seed = Random.seed();
    t.diagnostic(`PENSTOCK_SEED=${seed}`);
    const random = new Random(seed);
    const edge = await start(t, { vars, at: EVE_OF_SPRING });
    let told = null;
    let waits = 0;
    for (let index = 0; index < 80; index++) {
      const answer = await edge.get("/x", { ip, key: "k" });
      const { policies, limits } = rateHeaders(answer);
      assert.ok(limits.every(({ name }) => policies.some((policy) => policy.name === name)) && policies.every(({ q }) => q >= 1));
      if (answer.status === 429) assert.equal(limits[0].t, answer.json.retry_after);
      if (told) assert.equal(answer.status, 200, `told ${JSON.stringify(told)}, and then ${answer.text}`);
      told = null;
      if (answer.status === 429) {
        const { limit, retry_after } = answer.json;
        assert.equal(answer.headers["retry-after"], String(retry_after));
        if (random.below(2)) {
          told = { limit, retry_after };
          waits++;
          await edge.advance(retry_after * 1_000);
        } else await edge.advance(random.below(1_000));
      } else {
        assert.equal(answer.status, 200);
        assert.doesNotMatch(answer.headers.ratelimit ?? "", /global/, "an admitted answer does not mention shared limits");
        if (random.below(3) === 0) await edge.advance(random.below(random.below(2) ? 700 : 7_000));
      }
    }
    assert.ok(waits > 5, `${waits}`);
  });
}

for (const [name, vars] of Object.entries({
  "an address": { LIMIT_X: { route: "/x", per_ip: "20/min burst 3" } },
  "a key": { LIMIT_X: { route: "/x", per_key: "20/min burst 3" } },
  everyone: { LIMIT_X: { route: "/x", global: "20/min burst 3" } },
})) {
  test(`SDK-11: six calls of one caller that are refused at once all come through with two retries: ${name}`, async (t) => {
    const edge = await start(t, { vars });
    const get = () => edge.get("/x", { ip, key: "k" });
    for (const { status } of await inTurn(3, get)) assert.equal(status, 200);
    const begun = edge.at;
    let open = (await parallel(6, get)).map((answer) => ({ tries: 1, due: refusal(answer, { reason: answer.json.reason }, edge.at).retry_after }));
    assert.deepEqual(open.map(({ due }) => due).sort((a, b) => a - b), [3, 6, 9, 9, 9, 9]);
    while (open.length) {
      const now = Math.min(...open.map(({ due }) => due));
      await edge.freeze(begun + now * SECOND);
      const back = open.filter(({ due }) => due === now);
      open = open.filter(({ due }) => due !== now);
      for (const [index, answer] of (await parallel(back.length, get)).entries()) {
        if (answer.status === 200) continue;
        const tries = back[index].tries + 1;
        assert.ok(tries < 3, `refused at the third try, ${now} s after the first`);
        open.push({ tries, due: now + Number(answer.headers["retry-after"]) });
      }
    }
  });
}

test("SDK-11: a request that comes later and early is told the rest of the first wait", async (t) => {
  const edge = await start(t, { vars: { LIMIT_X: { route: "/x", per_ip: "10/min" } } });
  const get = () => edge.get("/x", { ip });
  for (const { status } of await inTurn(10, get)) assert.equal(status, 200);
  const told = async () => (await get()).headers["retry-after"];
  assert.deepEqual([await told(), await told()], ["6", "12"]);
  await edge.advance(2 * SECOND);
  assert.deepEqual([await told(), await told()], ["4", "4"]);
  await edge.advance(4 * SECOND);
  assert.equal((await get()).status, 200);
});

test("a caller that a full cap refuses has paid its own rate, and is told to wait for that", async (t) => {
  const edge = await start(t, { vars: { LIMIT_X: { route: "/x", per_ip: "1/min", in_flight: "1" } } });
  const held = edge.get("/x?as=held", { ip: "203.0.113.8" });
  await until(() => edge.origin.under === 1);
  const full = await edge.get("/x", { ip });
  assert.equal(full.status, 503);
  assert.equal(full.json.reason, "over_capacity");
  assert.equal(full.headers["retry-after"], "60");
  edge.origin.release();
  await held;
  await edge.advance(60_000);
  assert.equal((await edge.get("/x", { ip })).status, 200);
});
