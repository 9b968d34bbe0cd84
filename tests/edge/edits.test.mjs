// Edits of a configuration: a counter that is not touched keeps its count, whatever happens to the
// limits around it. PENSTOCK_SEED repeats the random edits.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Counters, edit, randomLimits, vars } from "./edits/limits.mjs";
import { count, inTurn, MINUTE, NOON, parallel, Random, refusal, SECOND, start, usedQuota } from "./harness/index.mjs";

const who = { ip: "203.0.113.7", key: "k" };
const other = { ip: "203.0.113.8", key: "other" };
/** How many of `n` requests pass. */
const passing = async (edge, n, path, options = who) => count(await inTurn(n, () => edge.get(path, options)), 200);

test("CFG-10: a limit that gets a neighbour keeps its count, and the neighbour has one of its own", async (t) => {
  const limits = (per_ip) => ({ LIMIT_X: { route: "/x", per_ip } });
  const edge = await start(t, { vars: limits("1/day") });
  assert.equal(await passing(edge, 2, "/x"), 1);
  await edge.redeploy(limits(["100/s", "1/day"]));
  assert.equal(refusal(await edge.get("/x", who), { reason: "quota_exhausted" }, edge.at).limit, "x/ip-2");
  await edge.redeploy(limits(["100/s", "3/h"]));
  assert.equal(await passing(edge, 4, "/x"), 3, "another limit begins anew");
  await edge.redeploy(limits(["3/h", "200/s", "2/day"]));
  assert.equal(refusal(await edge.get("/x", who)).limit, "x/ip");
  await edge.redeploy(limits("2/day"));
  assert.equal(await passing(edge, 3, "/x"), 1, "one of two was used");
});

for (const [from, to, used, left, wait] of [
  ["5/h", "6/h", 4, 2, 600],
  ["5/h", "10/h", 5, 5, 360],
  ["10/h", "5/h", 10, 0, 720],
  ["10/h", "10/h burst 4", 2, 2, 360],
  ["5/day", "8/day", 5, 3, 12 * 3600],
  ["8/day", "5/day", 6, 0, 12 * 3600],
]) {
  for (const field of ["per_ip", "global"]) {
    test(`CFG-10: ${used} of ${field} ${from} leave ${left} of ${to}`, async (t) => {
      const edge = await start(t, { vars: { LIMIT_X: { route: "/x", [field]: from } } });
      assert.equal(await passing(edge, used, "/x"), used);
      await edge.redeploy({ LIMIT_X: { route: "/x", [field]: to } });
      assert.equal(await passing(edge, left, "/x"), left);
      const { retry_after } = (await edge.get("/x", who)).json;
      assert.ok(retry_after <= wait, `told to wait ${retry_after} s, and not over ${wait}`);
      await edge.advance(retry_after * SECOND);
      assert.equal((await edge.get("/x", who)).status, 200, "who waits as told gets in");
    });
  }
}

for (let sequence = 0; sequence < 10; sequence++) {
  const seed = (Random.seed() + sequence) >>> 0;
  test(`CFG-10: random edits keep all counts that they do not touch (${sequence})`, async (t) => {
    t.diagnostic(`PENSTOCK_SEED=${seed}`);
    const random = new Random(seed);
    let limits = randomLimits(random);
    const counters = new Counters();
    const edge = await start(t, { vars: vars(limits) });
    const history = [];
    for (let step = 0; step < 8; step++) {
      for (const binding of limits) {
        for (const caller of [who, other]) {
          for (let sent = random.below(4); sent >= 0; sent--) {
            const full = counters.take(binding, caller);
            const answer = await edge.get(binding.path, caller);
            const what = `${binding.name} ${JSON.stringify(binding.entries)} after ${history.join(", ")}`;
            assert.equal(answer.status, full.length > 0 ? 429 : 200, `${what}: full are ${full}`);
            if (full.length > 0) assert.ok(full.includes(answer.json.limit), `${what}: ${answer.json.limit} refused`);
          }
        }
      }
      const edited = edit(limits, random);
      limits = edited.limits;
      history.push(edited.what);
      await edge.redeploy(vars(limits));
      // A saved TAT is rounded up to a microsecond.
      await edge.advance(1);
    }
  });
}

test("CFG-10: tokens in hand when a limit is edited are not given twice", async (t) => {
  const config = (per_key) => ({ LIMIT_HOT: { route: "/hot", per_key } });
  const edge = await start(t, { vars: config(["600/h", "1000/day"]), isolates: 2 });
  let passed = 0;
  for (let sent = 0; sent < 200; sent += 4) {
    passed += count(await parallel(4, (index) => edge.get("/hot", { ...who, isolate: index % 2 })), 200);
    await edge.advance(10);
  }
  assert.equal(passed, 200);
  const ahead = await usedQuota(edge);
  assert.ok(ahead > 200, "tokens are in hand");
  await edge.redeploy(config(["1000/s", "900/day", "700/h"]));
  const more = await passing(edge, 700, "/hot");
  // At most an eighth of the bucket was in hand at each isolate, and an eighth saved ahead.
  assert.ok(more <= 500 + 1 && more >= 500 - 3 * 75, `${more} more of the 500 that are left`);
  assert.ok((await usedQuota(edge)) <= 900);
});

for (const [what, from, to, most] of [
  ["a raise", "30/min burst 30", "120/min burst 60", (seconds) => 60 + 2 * seconds],
  ["a cut", "120/min burst 60", "30/min burst 10", (seconds) => 60 + 2 * seconds],
]) {
  test(`CFG-10: isolates of both configurations admit no more than the larger of both: ${what}`, async (t) => {
    const limit = (global) => ({ LIMIT_X: { route: "/x", global } });
    const edge = await start(t, { vars: limit(from), edited: limit(to), isolates: 2 });
    const admitted = [];
    for (let step = 0; step < 60; step++) {
      const answers = await parallel(8, (index) => edge.get("/x", { ip: `203.0.113.${step % 50}`, isolate: index % 2 }));
      admitted.push(...answers.filter(({ status }) => status === 200).map(() => edge.at));
      await edge.advance(step % 7 === 0 ? 3 * SECOND : 250);
    }
    for (const [first, since] of admitted.entries()) {
      for (let last = first; last < admitted.length; last++) {
        const seconds = (admitted[last] - since) / SECOND;
        assert.ok(last - first + 1 <= most(seconds), `${last - first + 1} within ${seconds} s`);
      }
    }
    assert.ok(admitted.length >= 60);
  });
}

test("CFG-10: isolates of an earlier version and of this one count together", async (t) => {
  const config = {
    LIMIT_X: { route: "/x", per_key: ["100/s", "5/h"] },
    LIMIT_ALL: { route: "/all", global: ["50/s", "5/2h"] },
    LIMIT_DAY: { route: "/day", global: ["50/s", "5/day"] },
  };
  const edge = await start(t, { vars: config });
  /** A question that an isolate of the first version sends about one limit. */
  const earlier = async (name, limit, terms, subject) => {
    const demands = [{ limit, cost: 1, ...terms }];
    const question = { v: 1, intent: "take", ...(subject && { subject }), demands, durable_after: 0, patience: 2_500_000_000 };
    const { outcomes } = await edge.ask(name, question);
    return Object.keys(outcomes[0])[0];
  };
  assert.equal(await passing(edge, 1, "/x"), 1);
  const name = (await edge.objects()).find((object) => object.name.startsWith("key/")).name;
  const [{ message }] = await untilRefused(edge, "/x");
  const { caller } = JSON.parse(message);
  await edge.advance(2 * 60 * MINUTE);
  const ways = [
    ["/x", name, "x/key-2", { rate: { interval: 720_000_000_000, burst: 5 } }, caller],
    ["/all", "shared/all/global-2", "all/global-2", { rate: { interval: 1_440_000_000_000, burst: 5 } }],
    ["/day", "shared/day/global-2", "day/global-2", { quota: { count: 5, zone: "UTC" } }],
  ];
  for (const [path, object, limit, terms, subject] of ways) {
    assert.equal(await earlier(object, limit, terms, subject), "met", `${limit}: one`);
    assert.equal(await passing(edge, 1, path), 1, `${limit}: two`);
    assert.equal(await earlier(object, limit, terms, subject), "met", `${limit}: three`);
    await edge.evict();
    assert.equal(await earlier(object, limit, terms, subject), "met", `${limit}: four`);
    assert.equal(await passing(edge, 2, path), 1, `${limit}: five, and no more`);
    assert.equal(await earlier(object, limit, terms, subject), "refused", limit);
  }
});

/** Uses a path up; returns the log lines of its refusals. */
async function untilRefused(edge, path) {
  while ((await edge.get(path, who)).status === 200);
  return edge.logs.filter(({ message }) => message.includes('"refused"'));
}

test("CFG-10: a limit that comes back goes on from the debt that time has not repaid", async (t) => {
  const edge = await start(t, { vars: { LIMIT_X: { route: "/x", per_ip: ["5/h", "9/min"] } }, at: NOON });
  assert.equal(await passing(edge, 6, "/x"), 5);
  await edge.redeploy({ LIMIT_X: { route: "/x", per_ip: "9/min" } });
  await edge.advance(1);
  assert.equal(await passing(edge, 10, "/x"), 4);
  await edge.advance(24 * MINUTE);
  await edge.redeploy({ LIMIT_X: { route: "/x", per_ip: ["9/min", "5/h"] } });
  assert.equal(await passing(edge, 6, "/x"), 2);
});
