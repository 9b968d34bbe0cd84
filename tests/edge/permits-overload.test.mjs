// Ten times what a cap allows. The bars proper are those of `make overload` on an idle machine; here they are wide, for one that is not.
import assert from "node:assert/strict";
import { test } from "node:test";
import { lines, overload } from "../../bench/overload.mjs";

test("ten times the cap: the origin is kept busy and never overrun, and the refused are told at once", async (t) => {
  const figures = await overload({ seconds: 8, calm: 5, cap: 10, takes: 400 });
  for (const [what, figure, bar] of lines(figures)) t.diagnostic(`${what}: ${figure} (bar: ${bar})`);
  assert.ok(figures.most <= figures.cap, `${figures.most} at once`);
  assert.deepEqual(Object.keys(figures.statuses), ["200", "503"]);
  assert.equal(figures.unrefused, 1, "half of what the cap allows is all let in");
  assert.ok(figures.goodput >= 0.85, `${figures.goodput}`);
  assert.ok(figures.admitted.p99 <= 2 * figures.calm.p99, `${figures.admitted.p99} and ${figures.calm.p99} ms`);
  assert.ok(figures.refused.p50 < 30, `${figures.refused.p50} ms`);
});
