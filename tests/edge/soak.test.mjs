// Everything at once for a while: mixed traffic over two isolates, evictions, crashes, deploys, and faults of the stores. A few seconds in
// `make test`, a quarter of an hour in `make soak`. PENSTOCK_SEED repeats a run's choices, not its timing.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { DAY, HOUR, MINUTE, Random, SECOND, start } from "./harness/index.mjs";
import { chaos } from "./soak/chaos.mjs";
import { Watch } from "./soak/envelope.mjs";
import { client } from "./soak/traffic.mjs";

const SECONDS = Number(process.env.PENSTOCK_SOAK ?? 15);
const CLIENTS = 24;
/** How many requests to /shared may be at the origin at once. */
const CAP = 4;
const ISOLATES = 2;

// A closed limit admits nothing unchecked, and with this nothing is forgiven: so nothing at all may be exceeded.
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

test(`${SECONDS} seconds of everything at once exceed no limit and leave nothing behind`, { timeout: (SECONDS + 120) * SECOND }, async (t) => {
  const seed = Random.seed();
  t.diagnostic(`PENSTOCK_SEED=${seed}`);
  const midnight = Date.parse("2031-01-16T00:00:00Z");
  const from = midnight - (SECONDS / 2) * SECOND;
  const edge = await start(t, { vars: VARS, at: from, isolates: ISOLATES });
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
  let deploying = false;
  const failed = (error) => {
    if (deploying) broken += 1;
    else odd.push(`${error}, ${(performance.now() - lastDeploy).toFixed(0)} ms after a start`);
  };
  const deploy = async () => {
    deploying = true;
    await edge.objects();
    await edge.stop();
    edge.at = Math.floor(now());
    await edge.launch();
    await edge.run();
    lastDeploy = performance.now();
    // Connections that were open then break only when they are used again.
    setTimeout(() => (deploying = performance.now() - lastDeploy < 5 * SECOND), 5 * SECOND);
  };
  let lastDeploy = begun;
  // The last third is without a deploy, so that one process's memory can be followed; and nobody hangs up then, for that costs the runtime
  // memory whatever Worker it runs, a bare one too.
  const deploys = () => performance.now() - begun < (SECONDS * SECOND * 2) / 3;
  const memory = [];
  const sampling = setInterval(() => memory.push({ age: performance.now() - lastDeploy, bytes: resident() }), Math.max(SECOND, SECONDS * 5));

  const clients = Array.from({ length: CLIENTS }, (_, index) =>
    client({ edge, isolates: ISOLATES, random: new Random(seed + index), over, leaves: deploys, answered, failed }),
  );
  const happened = await chaos({ edge, random: new Random(seed - 1), over, deploys, deploy });
  await Promise.all(clients);
  clearInterval(sampling);
  await edge.fail({ actor: null, d1: null });

  t.diagnostic(`${watch.arrivals} arrivals, answers ${JSON.stringify(statuses)}, ${broken} connections broken by deploys, at most ${watch.most.toFixed(0)} ms bunched up, ${most} under way`);
  t.diagnostic(JSON.stringify(happened));
  assert.deepEqual(watch.faults.slice(0, 5), [], `${watch.faults.length} arrivals beyond a limit`);
  assert.ok(most <= CAP, `${most} under way of ${CAP}`);
  assert.equal(under, 0);
  assert.deepEqual(odd.slice(0, 5), [], `${odd.length} odd answers`);
  assert.ok(watch.arrivals > SECONDS * 10 && statuses[429] > 0, "the traffic was worth the name");
  if (SECONDS >= 300) flat(t, memory);
  await empties(edge, now());
});

/** Memory of one process does not grow: not in the second half of its life as against a minute after its start. */
function flat(t, memory) {
  const last = memory.slice(memory.findLastIndex(({ age }, index) => index === 0 || age < memory[index - 1].age));
  const grown = last.filter(({ age }) => age > MINUTE);
  const median = (part) => part.map(({ bytes }) => bytes).sort((a, b) => a - b)[part.length >> 1];
  const [early, late] = [median(grown.slice(0, grown.length >> 2)), median(grown.slice(-(grown.length >> 2)))];
  t.diagnostic(`MiB every few seconds: ${last.map(({ bytes }) => Math.round(bytes / 2 ** 20)).join(" ")}`);
  t.diagnostic(`memory ${(early / 2 ** 20).toFixed(0)} MiB, then ${(late / 2 ** 20).toFixed(0)} MiB`);
  assert.ok(late < early * 1.15, `memory grew from ${early} to ${late} bytes`);
}

/** All that was stored goes again: rows, alarms, and the days' counts. */
async function empties(edge, now) {
  await edge.freeze(Math.floor(now) + HOUR);
  // Isolates look once a second whether they hold what nobody uses, and give it back.
  await new Promise((resolve) => setTimeout(resolve, 3 * SECOND));
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

/** Memory of the youngest runtime, in bytes. */
function resident() {
  const of = (pid) => {
    try {
      const [, name, parent] = /^\d+ \((.*)\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8"));
      return name === "workerd" && Number(parent) === process.pid;
    } catch {
      return false;
    }
  };
  try {
    const pid = Math.max(...readdirSync("/proc").filter((name) => /^\d+$/.test(name)).filter(of).map(Number));
    return 1024 * Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]);
  } catch {
    return 0;
  }
}
