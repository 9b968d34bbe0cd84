// An in-flight cap that finds itself.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { parallel, start } from "./harness/index.mjs";

const ip = "203.0.113.7";

test("a cap grows from its floor while the origin is not slower for it, and stays below its ceiling", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { route: "/*", in_flight: "auto 4..24" } } });
  await edge.run();
  const end = performance.now() + 24_000;
  const most = [];
  const watch = setInterval(() => {
    most.push(edge.origin.most);
    edge.origin.forget();
  }, 4_000);
  await parallel(40, async () => {
    while (performance.now() < end) {
      const answer = await edge.get("/x?as=slow&ms=200", { ip });
      if (answer.status !== 200) await sleep(50);
    }
  });
  clearInterval(watch);
  t.diagnostic(`at the origin at once, in each four seconds: ${most.join(" ")}`);
  assert.ok(most[0] <= 8, `${most}`);
  assert.ok(Math.max(...most) > 14, `${most}`);
  assert.ok(Math.max(...most) <= 24, `${most}`);
  const said = edge.records.filter(({ event }) => event === "cap");
  assert.ok(said.length >= 2 && said.length <= 4, JSON.stringify(said));
  assert.deepEqual([said[0].place, said[0].problem], ["all/in-flight", "is 4"]);
  assert.match(said.at(-1).problem, /^is \d+, was \d+$/);
  const [{ tables }] = await edge.objects();
  assert.equal(tables.found.length, 1, "and what was found is kept");
});
