// The page of the benchmarks: which sections a run writes, and which stay as they stand.
import assert from "node:assert/strict";
import { test } from "node:test";
import { distanceChart } from "../../bench/report/distance.mjs";
import { page, sectionsOf } from "../../bench/report/page.mjs";
import { realChart } from "../../bench/report/real.mjs";
import { CLASSES } from "../../bench/traffic/classes.mjs";
import { MIXES } from "../../bench/traffic/mixes.mjs";

const figures = (dollars) => ({ requests: 1_000, statuses: { 200: 990, 429: 10 }, p50: 0, p99: 40, actors: 500, d1: 2, rows: 59, rowsRead: 1, dollars });
const ways = { home: { first: figures(0.43), long: figures(0.41) }, roaming: { first: figures(0.5) } };
const names = { penstock: { name: "**Penstock**" }, "object-memory": { name: "An object" } };
const real = {
  names,
  results: { penstock: Object.fromEntries(MIXES.map(({ id }) => [id, ways])), "object-memory": { browsers: { home: { first: figures(0.45) } } } },
};
const distance = {
  distance: { actor: 20, d1: 30 },
  names: { penstock: "**Penstock**" },
  results: { penstock: Object.fromEntries(CLASSES.map(({ id }) => [id, { first: 70, p50: 40, p99: 70 }])) },
};
const OLD = "# Benchmarks\n\nOld.\n\n## Real traffic\n\nold real\n\n## A cold isolate\n\nold cold\n\n## How it is measured\n\nold how\n";

test("a run writes the sections that it measured, and leaves the others", () => {
  const text = page({ real, quick: false, workerd: "1.2", missing: [] }, OLD);
  const sections = sectionsOf(text);
  assert.deepEqual([...sections.keys()], ["Real traffic", "A cold isolate", "How it is measured"]);
  assert.equal(sections.get("A cold isolate"), "old cold");
  assert.ok(!text.includes("old real") && !text.includes("old how") && !text.includes("Old."));
  assert.equal(page({ real, quick: false, workerd: "1.2", missing: [] }, text), text, "once more changes nothing");
});

test("the section of real traffic has each mix twice, and says who was refused", () => {
  const text = sectionsOf(page({ real, quick: false, workerd: "1.2", missing: [] }, "")).get("Real traffic");
  for (const { name } of MIXES) {
    assert.ok(text.includes(`| ${name}; at home | 1,000 | 500 | 2.0 | 59 | **0.43** | 1,000 | 500 | 2.0 | 59 | **0.41** |`), text);
    assert.ok(text.includes(`| ${name}; roaming | 1,000 | 500 | 2.0 | 59 | **0.50** |  |`), text);
  }
  assert.ok(text.includes("| An object | 0.45 (0 / 40) |"), text);
  assert.ok(text.includes("penstock, browsers, at home, first: 10 of 1,000"), text);
});

test("the section of distance has each class of callers", () => {
  const text = sectionsOf(page({ distance, quick: false, workerd: "1.2", missing: [] }, "")).get("Distance");
  assert.ok(text.includes(`| **Penstock** |${" 70 / 40 / 70 |".repeat(CLASSES.length)}`), text);
});

test("the charts are SVG with a bar for each figure, and no number that is none", () => {
  for (const [svg, bars] of [[realChart(real), 3 * MIXES.length + 1], [distanceChart(distance), CLASSES.length]]) {
    assert.equal(svg.match(/<rect x=/g).length, bars);
    assert.doesNotMatch(svg, /NaN|undefined|Infinity|\*\*/);
  }
});
