// Caps that requests of several priorities share: low ones leave permits to those above them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { count, parallel, start } from "./harness/index.mjs";

const ip = "203.0.113.7";

/** A base cap that two routes share, one of low and one of high priority. */
const shared = (base) => ({
  LIMIT_BASE: base,
  LIMIT_LOW: { route: "/low", priority: "low" },
  LIMIT_HIGH: { route: "/high", priority: "high" },
});

test("low requests leave a fifth of a cap to higher priorities, and normal ones a tenth", async (t) => {
  const edge = await start(t, { vars: shared({ in_flight: "20" }) });
  await edge.run();
  const under = async (path, ms = 1_500) => {
    const before = edge.origin.count;
    const answers = parallel(30, () => edge.get(`${path}?as=slow&ms=${ms}`, { ip }));
    await sleep(400);
    return [edge.origin.count - before, answers];
  };
  const [low, a] = await under("/low");
  const [normal, b] = await under("/normal");
  const [high, c] = await under("/high");
  assert.deepEqual([low, normal, high], [16, 2, 2]);
  assert.equal(edge.origin.most, 20);
  await Promise.all([a, b, c]);
  // Permits that high requests leave idle are not for low ones either.
  const [again, d] = await under("/high", 100);
  assert.equal(again, 20);
  await d;
  const [then, e] = await under("/low", 100);
  t.diagnostic(`${then} low ones`);
  assert.ok(then > 0 && then <= 16, `${then}`);
  await e;
});

for (const isolates of [1, 2]) {
  test(`high requests take over the permits of low ones as these end, in ${isolates} isolates`, async (t) => {
    const edge = await start(t, { vars: shared({ in_flight: "10", wait: "500ms" }), isolates });
    await edge.run();
    const seen = { "/low": [], "/high": [] };
    const crowd = (path, isolate, clients, ms) => {
      const end = performance.now() + ms;
      return parallel(clients, async () => {
        while (performance.now() < end) {
          const answer = await edge.get(`${path}?as=slow&ms=100`, { ip, isolate });
          seen[path].push(answer);
          if (answer.status !== 200) await sleep(10);
        }
      });
    };
    const low = crowd("/low", 0, 30, 5_500);
    await sleep(1_000);
    assert.ok(count(seen["/low"], 200) > 30, "alone, low requests have most of the cap");
    const high = crowd("/high", isolates - 1, 20, 4_500);
    await sleep(2_500);
    seen["/low"] = [];
    seen["/high"] = [];
    await sleep(1_500);
    const [lows, highs] = [seen["/low"], seen["/high"]].map((answers) => count(answers, 200));
    await Promise.all([low, high]);
    t.diagnostic(`${highs} high ones and ${lows} low ones`);
    assert.ok(lows * 4 <= highs, `${highs} high ones and ${lows} low ones`);
    assert.equal(edge.origin.most, 10);
  });
}

test("high requests take over the permits of more frequent low ones where each isolate has its share", async (t) => {
  const isolates = 5;
  const edge = await start(t, { vars: shared({ in_flight: "10" }), isolates });
  await edge.run();
  const end = performance.now() + 7_000;
  const seen = { "/low": [], "/high": [] };
  const every = async (ms, path) => {
    const answers = [];
    for (let index = 0; performance.now() < end; index++) {
      const counts = performance.now() > end - 3_500;
      const get = edge.get(`${path}?as=slow&ms=100`, { ip, isolate: index % isolates });
      answers.push(get.then((answer) => counts && seen[path].push(answer)));
      await sleep(ms);
    }
    await Promise.all(answers);
  };
  const low = every(4, "/low");
  await sleep(1_000);
  await Promise.all([low, every(12, "/high")]);
  const [lows, highs] = [seen["/low"], seen["/high"]].map((answers) => count(answers, 200));
  t.diagnostic(`${highs} high ones of ${seen["/high"].length}, and ${lows} low ones of ${seen["/low"].length}`);
  assert.ok(lows * 2 <= highs, `${highs} high ones and ${lows} low ones`);
  assert.equal(edge.origin.most, 10);
});

test("low requests in five isolates together leave a fifth of a cap to others", async (t) => {
  const edge = await start(t, { vars: shared({ in_flight: "10" }), isolates: 5 });
  await edge.run();
  // Two high requests in each isolate: low ones find their permits idle there.
  const first = [];
  for (let index = 0; index < 10; index++) {
    first.push(edge.get("/high?as=slow&ms=1500", { ip, isolate: index % 5 }));
    await sleep(80);
  }
  const statuses = (await Promise.all(first)).map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 200).length, 10, `${statuses}`);
  const end = performance.now() + 5_000;
  const low = parallel(20, async (index) => {
    while (performance.now() < end) {
      const answer = await edge.get("/low?as=slow&ms=100", { ip, isolate: index % 5 });
      if (answer.status !== 200) await sleep(10);
    }
  });
  // The permits of the high requests have gone back by now.
  await sleep(2_500);
  edge.origin.forget();
  await sleep(1_000);
  const most = edge.origin.most;
  const high = await parallel(5, (index) => edge.get("/high", { ip, isolate: index % 5 }));
  await low;
  t.diagnostic(`${most} low ones at once, and ${count(high, 200)} of ${high.length} high ones passed`);
  assert.ok(most <= 8, `${most} at once`);
  assert.ok(most >= 7, `${most} at once`);
  assert.ok(count(high, 200) >= 2, `${count(high, 200)} passed`);
});
