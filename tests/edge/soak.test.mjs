// Everything at once: mixed traffic over two isolates, evictions, crashes, deploys, and faults of
// the stores. It takes seconds in `make test`, and a quarter of an hour in `make soak`.
// PENSTOCK_SEED repeats a run's choices, not its timing.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { DAY, HOUR, Random, SECOND, start } from "./harness/index.mjs";
import { resident } from "./harness/process.mjs";
import { chaos } from "./soak/chaos.mjs";
import { Watch } from "./soak/envelope.mjs";
import { client, crowd } from "./soak/traffic.mjs";

const SECONDS = Number(process.env.PENSTOCK_SOAK ?? 15);
const CLIENTS = 24;
/** How many requests to /shared may be at the origin at once. */
const CAP = 4;
const ISOLATES = 2;
/** Whether the run is long enough to measure memory. */
const LONG = SECONDS >= 300;

// A closed limit admits no unchecked request, and DURABLE_AFTER = "0s" forgives no debt: no limit
// may be exceeded.
const VARS = {
  DEADLINE: "250ms",
  DURABLE_AFTER: "0s",
  LIMIT_BASE: { per_ip: "10/s burst 20", global: "120/s burst 60", on_error: "closed" },
  LIMIT_API: { route: "/v1/*", per_key: ["20/s", "600/day"], on_error: "closed" },
  LIMIT_SHARED: { route: "/shared/*", global: "20/s burst 10", in_flight: String(CAP), on_error: "closed" },
  LIMIT_LOGIN: { route: "/login", per_ip: "6/min", on_error: "closed" },
  LIMIT_LOOSE: { route: "/loose", per_ip: "50/s", on_error: "local" },
};
const RATES = [
  { name: "base/ip", who: "ip", interval: 100, burst: 20 },
  { name: "base/global", who: "all", interval: 1_000 / 120, burst: 60 },
  { name: "api/key", under: "/v1/", who: "key", interval: 50, burst: 20 },
  { name: "shared/global", under: "/shared/", who: "all", interval: 50, burst: 10 },
  { name: "login/ip", under: "/login", who: "ip", interval: 10_000, burst: 6 },
];

test(`${SECONDS} seconds of everything at once exceed no limit and leave no row behind`, { timeout: (SECONDS + 120) * SECOND }, async (t) => {
  const seed = Random.seed();
  t.diagnostic(`PENSTOCK_SEED=${seed}`);
  const midnight = Date.parse("2031-01-16T00:00:00Z");
  const from = midnight - (SECONDS / 2) * SECOND;
  const edge = await start(t, { vars: VARS, at: from, isolates: ISOLATES, inspect: LONG });
  const begun = performance.now();
  const now = () => from + performance.now() - begun;
  const over = () => performance.now() - begun > SECONDS * SECOND;
  await edge.run();

  const watch = new Watch({ rates: RATES, quotas: [{ name: "api/key-2", under: "/v1/", count: 600 }], midnight, slack: 2 * SECOND });
  let [under, most] = [0, 0];
  edge.origin.watch = ({ url, headers, response }) => {
    watch.arrive({ url, ip: headers["cf-connecting-ip"], key: headers["x-api-key"] }, now());
    if (!url.startsWith("/shared/")) return;
    most = Math.max(most, ++under);
    response.on("close", () => under--);
  };

  const statuses = {};
  const odd = [];
  const answered = (answer) => {
    statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
    const ours = answer.headers["content-type"]?.startsWith("application/problem+json");
    if (answer.status !== 200 && !(ours && [429, 503].includes(answer.status))) odd.push(`${answer.status} ${answer.text.slice(0, 200)}`);
  };
  let broken = 0;
  let lastDeploy = begun;
  let stopped = false;
  // Connections that were open at a deploy break only when they are used again.
  const deploying = () => stopped || performance.now() - lastDeploy < 5 * SECOND;
  const failed = (error) => {
    if (deploying()) broken += 1;
    else odd.push(`${error}, ${(performance.now() - lastDeploy).toFixed(0)} ms after a start`);
  };
  const deploy = async () => {
    stopped = true;
    await edge.objects();
    await edge.stop();
    edge.at = Math.floor(now());
    await edge.launch();
    await edge.run();
    lastDeploy = performance.now();
    stopped = false;
  };
  // The last third is without a deploy, so that one process's memory can be followed.
  const deploys = () => performance.now() - begun < (SECONDS * SECOND * 2) / 3;
  const memory = LONG ? follow(edge, { from: () => !deploys() && !deploying(), over }) : null;

  const clients = Array.from({ length: CLIENTS }, (_, index) =>
    client({ edge, isolates: ISOLATES, random: new Random(seed + index), over, answered, failed }),
  );
  const happened = await chaos({ edge, random: new Random(seed - 1), over, deploys, deploy });
  await Promise.all(clients);
  await edge.fail({ actor: null, d1: null });

  t.diagnostic(`${watch.arrivals} arrivals, answers ${JSON.stringify(statuses)}, ${broken} connections broken by deploys`);
  t.diagnostic(`at most ${watch.most.toFixed(0)} ms bunched up, ${most} under way`);
  t.diagnostic(JSON.stringify(happened));
  const faults = Object.entries(happened).filter(([what]) => /^(actor|d1) /.test(what));
  assert.ok(faults.length === 0 || faults.some(([, { met }]) => met > 0), "a call met a fault");
  assert.deepEqual(watch.faults.slice(0, 5), [], `${watch.faults.length} arrivals beyond a limit`);
  assert.ok(most > 0 && most <= CAP, `${most} under way of ${CAP}`);
  assert.equal(under, 0);
  assert.deepEqual(odd.slice(0, 5), [], `${odd.length} odd answers`);
  assert.ok(watch.arrivals > SECONDS * 10 && statuses[429] > 0, "there was traffic, and some of it was refused");
  await empties(edge, now());
  if (LONG) flat(t, await memory);
});

/**
 * Looks at memory every few seconds once `from()` holds: the bytes that isolates keep when garbage
 * is collected, and those of the process.
 */
async function follow(edge, { from, over }) {
  while (!from()) await sleep(SECOND);
  // Each isolate remembers a bounded number of callers. Growth beyond that is a leak.
  await crowd({ edge, isolates: ISOLATES, count: 20_000 });
  const looks = [];
  while (!over()) {
    looks.push({ kept: await edge.collect({ all: true }), resident: resident() });
    await sleep(3 * SECOND);
  }
  return looks;
}

/** Asserts that memory does not grow: its median in the last quarter is that of the first. */
function flat(t, looks) {
  for (const what of ["kept", "resident"]) {
    const all = looks.map((look) => look[what] / 2 ** 20);
    const median = (part) => part.toSorted((a, b) => a - b)[part.length >> 1];
    const quarter = all.length >> 2;
    const [early, late] = [median(all.slice(0, quarter)), median(all.slice(-quarter))];
    t.diagnostic(`MiB ${what} every few seconds: ${all.map((one) => one.toFixed(1)).join(" ")}`);
    assert.ok(late < early * 1.15, `memory ${what} grew from ${early} to ${late} MiB`);
  }
}

/** Asserts that every stored row, alarm and daily count is deleted in the end. */
async function empties(edge, now) {
  await edge.freeze(Math.floor(now) + HOUR);
  // Isolates return idle tokens and permits once a second.
  await sleep(3 * SECOND);
  for (let round = 0; round < 6; round++) {
    await edge.freeze(edge.at + HOUR);
    if ((await edge.alarms()) === 0) break;
  }
  for (const { name, alarmAt, tables } of await edge.objects()) {
    assert.equal(Object.values(tables).flat().length, 0, `${name} is empty`);
    assert.equal(alarmAt, null, `${name} sleeps`);
  }
  await edge.freeze(edge.at + 60 * DAY);
  await edge.scheduled();
  assert.deepEqual(await edge.d1("SELECT * FROM quota"), []);
}
