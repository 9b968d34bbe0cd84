// BUDGET, a deployment's calls per day: counted in D1, and no actor is called once it is spent.
import assert from "node:assert/strict";
import { test } from "node:test";
import { count, DAY, parallel, problem, start, until } from "./harness/index.mjs";

const vars = {
  BUDGET: "1000/day",
  LIMIT_LOCAL: { route: "/local", per_ip: "5/min" },
  LIMIT_ALL: { route: "/all", global: "100/min" },
};
const used = async (edge) => (await edge.d1("SELECT coalesce(sum(used), 0) AS used FROM quota WHERE name = 'budget quota day UTC'"))[0].used;
const callers = (n, path, edge) => parallel(n, (index) => edge.get(path, { ip: `198.51.100.${index}` }));

test("every call is counted against the day's budget, a chunk at a time", async (t) => {
  const edge = await start(t, { vars });
  for (let wave = 0; wave < 10; wave++) assert.equal(count(await callers(20, "/local", edge), 200), wave < 5 ? 20 : 0);
  await until(async () => (await used(edge)) >= (await edge.asked()).calls);
  const { calls, actors } = await edge.asked();
  assert.ok((await used(edge)) <= calls + 130, `${await used(edge)} counted for ${calls} calls`);
  assert.ok(actors["shared/budget"] <= 8, `${actors["shared/budget"]} of ${calls} calls only count`);
});

test("a spent budget ends the calls until the next day, and the limits hold", async (t) => {
  const edge = await start(t, { vars });
  await edge.d1("INSERT INTO quota (day, name, subject, used) VALUES ('2031-01-15', 'budget', '', 985)");
  assert.equal(count(await callers(3, "/local", edge), 200), 3, "on credit");
  const said = () => edge.records.filter(({ place }) => place === "BUDGET");
  await until(async () => {
    await edge.get("/local", { ip: "203.0.113.1" });
    return said().length > 0;
  });
  assert.match(said()[0].problem, /spent but for a reserve/);
  const before = (await edge.asked()).calls;
  for (let wave = 0; wave < 8; wave++) await callers(50, "/local", edge);
  assert.equal((await edge.asked()).calls, before, "no actor is called");
  edge.origin.forget();
  await parallel(20, () => edge.get("/local", { ip: "203.0.113.77" }));
  assert.equal(edge.origin.count, 5, "one caller gets no more than the limit");
  const refused = await edge.get("/all", { ip: "203.0.113.2" });
  problem(refused, { reason: "limiter_unavailable", limit: "all/global" });
  const midnight = 12 * 3_600;
  const wait = Number(refused.headers["retry-after"]);
  assert.ok(wait >= midnight && wait <= midnight + 6, `${wait} s, and ${midnight} s until the calls return`);
  const kept = edge.records.filter(({ place }) => place === "local/ip" || place === "all/global");
  assert.ok(kept.length > 0 && kept.every(({ problem }) => problem.includes("BUDGET")), JSON.stringify(kept));
  assert.equal(said().length, 1, "the step is logged once");
  await edge.advance(DAY);
  assert.equal((await edge.get("/all", { ip: "203.0.113.2" })).status, 200);
  assert.ok((await edge.asked()).calls > before);
});

test("a budget below the least that works is a fault", async (t) => {
  const edge = await start(t, { vars: { ...vars, BUDGET: "12" } });
  problem(await edge.get("/local", { ip: "203.0.113.1" }), { reason: "misconfigured", status: 500 });
});

test("calls beyond the budget are no debt of the next day", async (t) => {
  const edge = await start(t, { vars: { ...vars, LIMIT_CAP: { route: "/cap", in_flight: "10" } } });
  await edge.d1("INSERT INTO quota (day, name, subject, used) VALUES ('2031-01-15', 'budget', '', 985)");
  // Caps go on calling their actors when the budget is spent.
  for (let call = 0; call < 1_100; call++) {
    await edge.advance(20_000);
    assert.equal((await edge.get("/cap", { ip: "203.0.113.1" })).status, 200);
  }
  await edge.freeze(Date.parse("2031-01-16T00:00:05Z"));
  for (let hour = 0; hour < 4; hour++) {
    const before = (await edge.asked()).calls;
    assert.equal(count(await callers(10, "/all", edge), 200), 10, `${hour} hours into the day`);
    assert.ok((await edge.asked()).calls - before >= 1);
    await edge.advance(3_600_000);
  }
  const [{ used }] = await edge.d1("SELECT used FROM quota WHERE name = 'budget quota day UTC' AND day = '2031-01-16'");
  assert.ok(used < 300, `${used} counted`);
});
