// A wait that is told is true: whoever waits exactly that long, and is alone, gets in. Whatever refuses it, and however many do at once.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Random, rateHeaders, start, until } from "./harness/index.mjs";

const ip = "203.0.113.7";
const EVE_OF_SPRING = Date.parse("2031-03-09T04:30:00Z");

const LIMITS = {
  "one at a time": { LIMIT_X: { route: "/x", per_ip: "1/s" } },
  "very slow ones": { LIMIT_X: { route: "/x", per_ip: "1/30d burst 3" } },
  "odd ones, and a cost": { LIMIT_X: { route: "/x", per_key: "9973/97s burst 13", cost: 7 } },
  "two of an address": { LIMIT_X: { route: "/x", per_ip: ["2/s", "5/min"] } },
  "an address's and a key's": { LIMIT_X: { route: "/x", per_ip: "3/min", per_key: "6/min burst 1" } },
  "a key's quotas, of two days that end at other times": { LIMIT_X: { route: "/x", per_key: ["5/day", "3/day America/New_York"], per_ip: "2/min" } },
  "an address's and everyone's": { LIMIT_X: { route: "/x", per_ip: "2/s", global: "5/min" } },
  "everyone's faster than an address's": { LIMIT_X: { route: "/x", per_ip: "4/min", global: "10/min burst 1" } },
  "all kinds": { LIMIT_BASE: { per_ip: "3/s", global: "9/min" }, LIMIT_X: { route: "/x", per_key: "4/30s", cost: 2, global: "20/min" } },
  "an address's day, and everyone's longer than it": { LIMIT_X: { route: "/x", per_ip: "4/day", global: "2/30h burst 1" } },
  "an address's day, and a key's that ends later": { LIMIT_X: { route: "/x", per_ip: "3/day", per_key: "2/day America/New_York", global: "5/h" } },
  "an address's and everyone's of a day": { LIMIT_X: { route: "/x", per_ip: "2/s", global: ["5/min", "12/day"] } },
  "one that warms up": { LIMIT_X: { route: "/x", per_ip: "1/s", global: "20/min", warmup: "30s" } },
};

for (const [name, vars] of Object.entries(LIMITS)) {
  test(`hdr_03_whoever_waits_as_told_gets_in: ${name}`, async (t) => {
    const seed = Random.seed();
    t.diagnostic(`PENSTOCK_SEED=${seed}`);
    const random = new Random(seed);
    const edge = await start(t, { vars, at: EVE_OF_SPRING });
    let told = null;
    let waits = 0;
    for (let index = 0; index < 80; index++) {
      const answer = await edge.get("/x", { ip, key: "k" });
      const { policies, limits } = rateHeaders(answer);
      assert.ok(limits.length <= 1 && policies.every(({ q }) => q >= 1));
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
        assert.doesNotMatch(answer.headers.ratelimit ?? "", /global/, "what others share is told to nobody who passes");
        if (random.below(3) === 0) await edge.advance(random.below(random.below(2) ? 700 : 7_000));
      }
    }
    assert.ok(waits > 5, `${waits}`);
  });
}

test("who finds it full has paid at its address, and is told to wait for that", async (t) => {
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
