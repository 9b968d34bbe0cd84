// Faults at random: evictions, crashes, deploys, and failing calls to actors and D1.

import { setTimeout as sleep } from "node:timers/promises";

const OVERLOADED = { kind: "throw", flags: { overloaded: true, remote: true } };
const DISCONNECTED = { kind: "throw", message: "Network connection lost.", flags: { retryable: true, remote: true } };

const FAULTS = [
  { actor: { kind: "hang", ms: 3_000 } },
  { actor: OVERLOADED },
  { actor: DISCONNECTED },
  { actor: { kind: "lost", flags: { retryable: true, remote: true } } },
  { actor: { kind: "late", ms: 400 } },
  { actor: { kind: "reply", status: 200, headers: { "penstock-reply": '{"v":1,"outcomes":[{"met":' } } },
  { d1: { kind: "hang", ms: 2_000 } },
  { d1: { kind: "throw" } },
  { d1: { kind: "lost" } },
  { d1: { kind: "nonsense", value: [["much"]] } },
];

/**
 * Injects a fault every few seconds until `over()`. `deploys()` says whether there may be a deploy
 * now.
 *
 * @returns by the kind of fault: how often it was injected, and for calls that fail, `{ times, met
 *   }`
 */
export async function chaos({ edge, random, over, deploys, deploy }) {
  const done = {};
  const note = (what) => (done[what] = (done[what] ?? 0) + 1);
  while (!over()) {
    await sleep(500 + random.below(2_000));
    const dice = random.below(10);
    if (over()) break;
    if (dice < 2) {
      await edge.evict();
      note("evictions");
    } else if (dice < 4) {
      await edge.crash();
      note("crashes");
    } else if (dice === 4 && deploys()) {
      await deploy();
      note("deploys");
    } else {
      const fault = random.pick(FAULTS);
      const [[store, order]] = Object.entries(fault);
      await edge.fail({ [store]: { ...order, unmet: "it may end before any call" } });
      await sleep(300 + random.below(1_500));
      const { [store]: met } = await edge.fail({ actor: null, d1: null });
      const noted = (done[`${store} ${order.kind}`] ??= { times: 0, met: 0 });
      noted.times += 1;
      noted.met += met;
    }
  }
  return done;
}
