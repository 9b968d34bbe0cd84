// Ten times the requests that a cap allows. `make overload` has the narrow bars, for an idle
// machine; the bars here are wide, for a busy one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { lines, overload } from "../../bench/overload.mjs";

test("ten times the requests that a cap allows keep the origin busy, never overrun it, and are refused at once", async (t) => {
  const figures = await overload({ seconds: 8, calm: 5, cap: 10, takes: 400 });
  for (const [what, figure, bar] of lines(figures)) t.diagnostic(`${what}: ${figure} (bar: ${bar})`);
  assert.ok(figures.most <= figures.cap, `${figures.most} at once`);
  assert.deepEqual(Object.keys(figures.statuses), ["200", "503"]);
  assert.equal(figures.unrefused, 1, "half of the requests that the cap allows are all admitted");
  assert.ok(figures.goodput >= 0.85, `${figures.goodput}`);
  assert.ok(figures.admitted.p99 <= 2 * figures.calm.p99, `${figures.admitted.p99} and ${figures.calm.p99} ms`);
  assert.ok(figures.refused.p50 < 30, `${figures.refused.p50} ms`);
});
