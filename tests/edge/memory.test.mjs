// An isolate keeps no memory of requests whose client left, nor of actors that are gone. The
// runtime drops a request's context when its client leaves, and does not tell the module.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { open, start, until } from "./harness/index.mjs";

const MIB = 2 ** 20;
const AT_ORIGIN = "/?as=slow&ms=20000";

/** The memory that an isolate keeps after `turns` beyond what it kept after `before`, in MiB. */
async function grown(edge, turn, { before, turns }) {
  const rounds = async (count) => {
    for (let round = 0; round < count; round++) await turn();
    // Objects that only garbage refers to are garbage of the next collection.
    for (let time = 0; time < 2; time++) {
      await edge.collect();
      await sleep(100);
    }
    return edge.collect();
  };
  const first = await rounds(before);
  return ((await rounds(turns)) - first) / MIB;
}

/**
 * Sends `count` requests at once and resets their connections when they have arrived: at the
 * origin, or a moment later where they wait for an actor.
 */
async function leave(edge, path, count) {
  edge.origin.forget();
  const left = Array.from({ length: count }, (_, index) => {
    let mine;
    const write = (request) => request.on("socket", () => (mine = request)).end();
    const answer = open(edge.url(), { path, ip: `203.0.113.${index % 8}`, write }).catch(() => {});
    return async () => {
      mine.socket.resetAndDestroy();
      await answer;
    };
  });
  if (path === AT_ORIGIN) await until(() => edge.origin.count === count);
  else await sleep(100);
  await Promise.all(left.map((gone) => gone()));
}

const CASES = [
  ["at the origin under a cap", { LIMIT_BASE: { in_flight: "5000", per_ip: "9000/s" } }, AT_ORIGIN],
  ["at an origin with a timeout", { LIMIT_BASE: { timeout: "1min", per_ip: "9000/s" } }, AT_ORIGIN],
  ["at the origin with a trace", { TRACE: "header", LIMIT_BASE: { per_ip: "9000/s" } }, AT_ORIGIN],
  ["in the question to an actor", { DEADLINE: "5s", LIMIT_BASE: { per_ip: "9000/h burst 9000" } }, "/", { kind: "hang", ms: 20_000 }],
];
for (const [where, vars, path, actor] of CASES) {
  test(`clients that leave while their request is ${where} leave no memory behind`, async (t) => {
    const edge = await start(t, { vars, inspect: true });
    await edge.run();
    if (actor) await edge.fail({ actor });
    const more = await grown(edge, () => leave(edge, path, 50), { before: 6, turns: 10 });
    t.diagnostic(`${more.toFixed(2)} MiB more after 500 of them`);
    // It was 5 MiB when the isolate kept them; a table may grow meanwhile.
    assert.ok(more < 2, `${more} MiB`);
  });
}

test("evicted actors leave no memory behind", async (t) => {
  const edge = await start(t, { vars: { DURABLE_AFTER: "0s", LIMIT_BASE: { per_ip: "9000/h" } }, inspect: true });
  const turn = async () => {
    for (let index = 0; index < 8; index++) await edge.get("/", { ip: `203.0.113.${index}` });
    await edge.evict();
  };
  const more = await grown(edge, turn, { before: 4, turns: 15 });
  t.diagnostic(`${more.toFixed(2)} MiB more after 120 of them`);
  assert.ok(more < 0.5, `${more} MiB`);
});
