// The program as it is run: what it prints, and how it ends.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { after, test } from "node:test";
import { append, Checkout, nextLine } from "./checkout.mjs";

const checkout = Checkout.copy();
after(() => checkout.remove());

const next = (path) => `${path}:${nextLine(checkout.read(path))}:`;

/** The rules that a run tells of: the state of each, and the lines below it. */
function told({ stdout }) {
  const rules = new Map();
  for (const line of stdout.split("\n")) {
    const [, state, name] = /^ {2}(\w+) +([\w-]+): /.exec(line) ?? [];
    if (name) rules.set(name, { state, lines: [] });
    else if (line.startsWith(" ".repeat(12))) [...rules.values()].at(-1).lines.push(line.trim());
  }
  return rules;
}

test("in this checkout as it is, all armed rules hold", () => {
  const run = checkout.run();
  const rules = told(run);
  const broken = [...rules].filter(([, { state }]) => state === "BROKEN");
  assert.deepEqual(broken, [], run.stdout);
  assert.equal(run.status, 0, run.stderr);
  assert.ok([...rules.values()].filter(({ state }) => state === "holds").length >= 10, run.stdout);
});

test("all that is broken is told of at once, by rule and place", () => {
  const [plan, serve] = ["src/gate/plan.rs", "src/http/serve.rs"];
  const edits = {
    [plan]: append("use worker::Env;"),
    [serve]: append("fn f() { std::time::Instant::now() }"),
    "src/policy/host.rs": append("#[allow(clippy::panic)]\nfn f() {}"),
    "src/limit/rate.rs": append("fn f(e: OnError) -> bool { e == OnError::Closed }"),
    "docs/reading.md": append(["see /ro", "ot/x"].join("")),
    "ARCHITECTURE.md": null,
    "tests/wasm": null,
    "src/limit/long.rs": "\n".repeat(301),
    "src/limit/mod.rs": append("mod long;"),
    "src/limit/day.js": `/** Whose day it is. */\nfunction long() {${"\n".repeat(71)}}\n// ${"word ".repeat(30)}\n`,
  };
  const places = {
    pure: next(plan),
    clock: next(serve),
    "panic-lints": next("src/policy/host.rs"),
    "on-error": next("src/limit/rate.rs"),
    "private-words": next("docs/reading.md"),
    "architecture-length": "ARCHITECTURE.md: is missing",
    suites: "tests/wasm: holds no test",
    "file-length": "src/limit/long.rs:301:",
    "folder-headers": next("src/limit/mod.rs"),
    "comment-openings": "src/limit/day.js:1:",
    "function-length": "src/limit/day.js:2:",
    "comment-width": "src/limit/day.js:74:",
  };
  const run = checkout.with(edits, () => checkout.run("--arm", "all"));
  const rules = told(run);
  for (const [name, place] of Object.entries(places)) {
    assert.equal(rules.get(name).state, "BROKEN", name);
    assert.ok(
      rules.get(name).lines.some((line) => line.startsWith(place)),
      `${name} does not tell of ${place}:\n${run.stdout}`,
    );
  }
  assert.equal(run.status, 1);
  assert.match(run.stderr, /[0-9]+ of these do not hold/);
});

test("a rule may be armed in some folders alone, which have to be there", () => {
  const wide = { "src/limit/new.rs": `// ${"word ".repeat(30)}\n`, "src/clean/mod.rs": "// short\n" };
  const state = (where) => {
    const run = checkout.with(wide, () =>
      checkout.run("--only", "comment-width", "--arm", `comment-width=${where}`),
    );
    return [told(run).get("comment-width").state, run.status];
  };
  assert.deepEqual(state("src/clean"), ["holds", 0]);
  assert.deepEqual(state("src/clean+src/limit"), ["BROKEN", 1]);
  assert.deepEqual(state("src/clean+src/gone"), ["BROKEN", 1]);
});

test("an unarmed rule breaks nothing, and an armed one does", () => {
  const path = "src/limit/new.rs";
  const edits = { [path]: "/// What it is.\n" };
  const name = "comment-openings";
  const [unarmed, armed] = checkout.with(edits, () => [
    checkout.run("--only", name),
    checkout.run("--only", name, "--arm", "all"),
  ]);
  // Once the rule is armed for good, both are the same.
  const { state } = told(unarmed).get(name);
  assert.deepEqual([state, unarmed.status], state === "unarmed" ? ["unarmed", 0] : ["BROKEN", 1]);
  assert.equal(armed.status, 1);
  assert.ok(told(armed).get(name).lines.includes(`${path}:1: /// What it is.`));
});

test("the report measures each folder and file, and shows what unarmed rules find", () => {
  const { stdout } = checkout.with({ "src/new/a.rs": `// what who${" a".repeat(98)}\n` }, () =>
    checkout.run("--report"),
  );
  assert.match(stdout, /^src\/new +1 +100 +2 +2\.00 +1 +207 +1 +0 +1 +1$/m);
  assert.match(stdout, /^src\/new\/a\.rs +1 +100 +2 +2\.00 +1 +207 +1 +0$/m);
  assert.match(stdout, /^ {12}src\/new\/a\.rs:1: 207 columns$/m);
});

test("a rule that there is not is an error", () => {
  for (const option of ["--only", "--arm"]) {
    const { status, stderr } = checkout.run(option, "none-such");
    assert.notEqual(status, 0);
    assert.match(stderr, /there is no rule none-such/);
  }
});

test("the program also runs by another name", () => {
  const link = `${checkout.root}-link.mjs`;
  symlinkSync(join(checkout.house, "scripts/invariants.mjs"), link);
  const { stdout } = spawnSync(process.execPath, [link, "--root", checkout.root, "--only", "pure"], {
    encoding: "utf8",
  });
  rmSync(link);
  assert.match(stdout, /holds +pure/);
});
