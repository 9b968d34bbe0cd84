// Rules about tests: a runner finds each, and scripts/test.sh runs it.
import { readCrate } from "./rust-modules.mjs";
import { cratesOf } from "./rust-imports.mjs";

/** A step at the top level of scripts/test.sh, which fails unless it runs tests. */
const RUNNER = /^runner "[^"\n]*" (\w+)$/gm;

/** An option by which a runner leaves out tests, or an excuse for tests that fail. */
const LEAVES_OUT = /--(?:test-name-pattern|test-skip-pattern|test-only|skip|lib|bins?)\b|\|\|\s*(?:true|:)/;

const IMPORTS_RUNNER = /\b(?:from|import)\s*\(?\s*["']node:test["']/;

/** A test that Node leaves out: by a method, or by an option before the test's function. */
const LEFT_OUT_BY_NODE = new RegExp(
  [
    "(?<![\\w$])(?:test|it|describe|suite|t|context)\\s*\\.\\s*(?:skip|todo|only)\\b",
    "(?<![\\w$.])(?:test|it|describe|suite)\\s*\\((?:[^;{}]|\\{[^{};]*\\})*?,\\s*\\{[^{}]*\\b(?:skip|todo|only)\\s*[:,}]",
  ].join("|"),
  "g",
);

/** A test that Cargo leaves out: `#[ignore]`, also under a condition, and code for no target. */
const LEFT_OUT_BY_CARGO =
  /#\[\s*ignore\b|\bcfg_attr\s*\([^\]]*\bignore\b|\bcfg\s*\(\s*(?:any\s*\(\s*\)|false)/g;

/** Each suite has tests, and scripts/test.sh runs it and each of the `steps`. */
export function missingSuites(tree, suites, steps) {
  const found = [];
  const script = (tree.read("scripts/test.sh") ?? "").replace(/^\s*#.*$/gm, "");
  const runners = [...script.matchAll(RUNNER)].map(({ 1: name }) => name);
  const functions = [...script.matchAll(/^(\w+)\(\) \{\n([^]*?)^\}/gm)];
  const run = functions.filter(({ 1: name }) => runners.includes(name)).map(({ 2: body }) => body);
  for (const folder of suites) {
    if (!tree.files(folder).some((file) => isTest(tree, file))) found.push(`${folder}: holds no test`);
    const bodies = run.filter((body) => body.includes(folder));
    if (bodies.length === 0) found.push(`scripts/test.sh: does not run ${folder}`);
    if (bodies.some((body) => LEAVES_OUT.test(body)))
      found.push(`scripts/test.sh: leaves out tests of ${folder}`);
  }
  for (const step of steps) {
    if (!script.split("\n").some((line) => line.startsWith("step ") && line.endsWith(`" ${step}`)))
      found.push(`scripts/test.sh: has no step \`${step}\``);
  }
  return [...found, ...lostTests(tree, suites), ...leftOut(tree)];
}

/** Files with tests that belong to no suite, or that the runner of their suite does not find. */
function lostTests(tree, suites) {
  const found = [];
  const modules = new Set(cratesOf(tree).flatMap((root) => readCrate(tree, root).modules).map(({ file }) => file));
  for (const file of tree.files()) {
    const known = suites.some((folder) => file.startsWith(`${folder}/`));
    if (file.startsWith("src/") && file.endsWith(".rs")) continue;
    if (isTest(tree, file)) {
      if (!known) found.push(`${file}: belongs to no suite`);
      else if (file.endsWith(".rs") && !modules.has(file)) found.push(`${file}: no crate has it as a module`);
    } else if (/\.[cm]?[jt]s$/.test(file) && IMPORTS_RUNNER.test(tree.read(file))) {
      found.push(`${file}: has tests, but its name does not end in .test.mjs`);
    }
  }
  for (const file of tree.files("tests/wasm", ["rs"])) {
    // The runner of wasm-bindgen passes over them.
    const source = tree.source(file);
    for (const { index } of source.code.matchAll(/#\[test\]/g))
      found.push(`${source.at(index)} (not run in wasm)`);
  }
  return found;
}

/** Tests that their runner finds and leaves out. */
function leftOut(tree) {
  const by = { rs: LEFT_OUT_BY_CARGO, mjs: LEFT_OUT_BY_NODE };
  return Object.entries(by).flatMap(([type, pattern]) =>
    tree.files("tests", [type]).flatMap((file) => {
      const source = tree.source(file);
      return [...source.code.matchAll(pattern)].map(({ index }) => source.at(index));
    }),
  );
}

/** Whether a runner finds tests in the file: Node by its name, Cargo by `#[test]` and the like. */
function isTest(tree, file) {
  if (file.endsWith(".rs")) return /test\]|\bproptest!/.test(tree.source(file).code);
  return file.endsWith(".test.mjs");
}
