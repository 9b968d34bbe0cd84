// The invariants of ARCHITECTURE.md that no compiler and no lint can express. Needs Node alone.
//
//   node scripts/invariants.mjs   prints each rule as `holds` or `BROKEN`, with the lines at fault
//     --report     adds the findings of unarmed rules, and the measures of each folder and file
//     --only a,b   checks two rules alone
//     --arm a,b    arms two rules; `--arm all` arms all, `--arm a=src/x+src/y` one in two folders
//     --root DIR   checks another checkout
import { realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { printReport } from "./invariants/report.mjs";
import { rulesOf } from "./invariants/rules.mjs";
import { Tree } from "./invariants/tree.mjs";

/** The modules of src/lib.rs. Pure modules name neither the runtime nor an impure module. */
const PURE = ["concurrency", "gate", "identity", "limit", "policy", "protocol"];
const IMPURE = ["actor", "bin", "http", "ledger", "log", "runtime", "wasm_exports"];

/** The one file that reads a clock. */
const CLOCK = "src/runtime/clock.rs";

/** The scripts that read one without it: where the module has failed, in timers, in a browser. */
const CLOCK_SCRIPTS = ["src/entry.js", "src/http/permit_heartbeat.js", "src/http/refusal_page/page.js"];

/** The one file that decides by `on_error`, and the folders that parse and print it. */
const ON_ERROR = "src/gate/on_error.rs";
const ON_ERROR_READ = ["src/policy", "src/bin"];

/** The folders of tests, each of which scripts/test.sh runs. */
const SUITES = ["tests/native", "tests/wasm", "tests/edge", "tests/house"];

/** The checks without tests that scripts/test.sh has to run as well. */
const STEPS = ["cargo fmt --check", "scripts/clippy.sh", "node scripts/invariants.mjs", "scripts/build.sh"];

/** The lints of Cargo.toml against panics. No code that ships is excused from them. */
const PANICS = [
  ...["unwrap_used", "expect_used", "panic", "unreachable", "todo", "unimplemented"],
  ...["indexing_slicing", "string_slice", "arithmetic_side_effects"],
];

/** The most lines and columns, and the words that no comment opens with. */
const LIMITS = {
  pages: { "ARCHITECTURE.md": 120, "README.md": 160 },
  columns: 100,
  openings: ["what", "who", "whoever", "whose", "whom", "those", "none"],
  riddlesPer100Words: 1.0,
  fileLines: 300,
  medianFileLines: 130,
  functionLines: 70,
};

/**
 * Whether a broken rule fails the program. Rules about comments, sizes and headers also take a list
 * of folders, such as `["src/limit", "src/policy"]`, and look there alone. An unarmed rule is shown
 * with the number of its findings.
 */
const ARMED = {
  pure: true,
  clock: true,
  "panic-lints": true,
  "on-error": true,
  "private-words": true,
  "locked-hosts": true,
  "architecture-length": true,
  "readme-length": true,
  suites: true,
  "fault-ids": true,
  counts: true,
  "file-circles": true,
  "folder-circles": true,
  "parent-child-circles": true,
  modules: true,
  "folder-headers": true,
  "comment-width": true,
  "comment-openings": true,
  riddles: true,
  "file-length": true,
  "median-length": true,
  "function-length": true,
};

/**
 * Checks the checkout at `root`. Each result has the name and title of a rule, its entry of ARMED,
 * and its findings. `only` names the rules to check, all rules if it is empty. `arm` replaces
 * entries of ARMED.
 */
export function check(root, only = [], arm = new Map()) {
  const tree = new Tree(root);
  const boundaries = { PURE, IMPURE, CLOCK, CLOCK_SCRIPTS, ON_ERROR, ON_ERROR_READ, PANICS };
  const rules = rulesOf({ ...boundaries, SUITES, STEPS, LIMITS });
  for (const name of [...Object.keys(ARMED), ...only, ...arm.keys()]) {
    if (!(name in rules) && name !== "all") throw new Error(`there is no rule ${name}`);
  }
  const chosen = Object.entries(rules).filter(([name]) => only.length === 0 || only.includes(name));
  return chosen.map(([name, { title, find }]) => {
    const armed = arm.get(name) ?? arm.get("all") ?? ARMED[name];
    if (armed === undefined) throw new Error(`the rule ${name} is not in ARMED`);
    const folders = Array.isArray(armed) ? armed : ["src"];
    const missing = folders.filter((folder) => tree.files(folder).length === 0);
    const found = [
      ...missing.map((folder) => `${folder}: holds no file for ${name}`),
      ...find(tree, folders),
    ];
    return { name, title, armed, found };
  });
}

function print({ name, title, armed, found }, all) {
  const where = Array.isArray(armed) ? ` (in ${armed.join(", ")})` : "";
  const state = !armed ? "unarmed" : found.length === 0 ? "holds  " : "BROKEN ";
  const count = armed ? "" : `: ${found.length === 0 ? "holds, and can be armed" : `${found.length} found`}`;
  console.log(`  ${state} ${name}: ${title}${where}${count}`);
  if (armed || all) for (const line of found) console.log(`            ${line}`);
}

function main() {
  const list = { type: "string", default: "" };
  const options = {
    root: { type: "string" },
    only: list,
    arm: list,
    report: { type: "boolean", default: false },
  };
  const { root, only, arm, report } = parseArgs({ options }).values;
  const names = (text) => text.split(",").filter(Boolean);
  const where = names(arm)
    .map((each) => each.split("="))
    .map(([name, folders]) => [name, folders?.split("+") ?? true]);
  const checkout = resolve(root ?? `${dirname(fileURLToPath(import.meta.url))}/..`);

  const results = check(checkout, names(only), new Map(where));
  for (const result of results) print(result, report);
  if (report) printReport(new Tree(checkout), LIMITS);
  const broken = results.filter(({ armed, found }) => armed && found.length > 0).length;
  if (broken > 0) console.error(`${broken} of these do not hold.`);
  process.exitCode = broken > 0 ? 1 : 0;
}

if (process.argv[1] && fileURLToPath(import.meta.url) === realpathSync(process.argv[1])) main();
