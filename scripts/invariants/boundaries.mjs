// Rules about names in code: the runtime, clocks, excuses from lints, the choices of `on_error`.
import { blankAll, closing } from "./source.mjs";
import { shippedCode } from "./rust-source.mjs";

const CRATES =
  "(?:worker|worker_sys|js_sys|web_sys|wasm_bindgen|wasm_bindgen_futures|console_error_panic_hook)";

/**
 * A path or a declaration that begins with a crate of the runtime, or an import that contains one.
 */
const RUNTIME = new RegExp(
  `(?<![\\w.])${CRATES}(?=\\s*::|\\s*;|\\s+as\\s)|\\buse\\s[^;]*\\b${CRATES}\\b`,
  "g",
);

/**
 * Each module of src/lib.rs stands in one of the two lists, and each listed module has a file. Pure
 * modules name neither the runtime nor an impure module.
 */
export function impurities(tree, arrows, pure, impure) {
  const found = [];
  const declared = [...tree.source("src/lib.rs").code.matchAll(/\bmod\s+(\w+)\s*;/g)].map(
    ({ 1: name }) => name,
  );
  for (const name of declared) {
    const lists = [pure, impure].filter((list) => list.includes(name)).length;
    if (lists !== 1) found.push(`src/lib.rs: module ${name} is in ${lists} of the lists PURE and IMPURE`);
  }
  for (const name of [...pure, ...impure]) {
    if (filesOf(tree, name).length === 0)
      found.push(`src/${name}: listed as PURE or IMPURE, but it holds no Rust file`);
  }
  for (const name of pure.filter((each) => !declared.includes(each))) {
    found.push(`src/lib.rs: module ${name} is listed as PURE, but not declared`);
  }
  const files = new Set(pure.flatMap((name) => filesOf(tree, name)));
  for (const file of files) found.push(...matches(tree.source(file), tree.source(file).code, RUNTIME));
  for (const { from, to, at } of arrows) {
    if (files.has(from) && !files.has(to))
      found.push(`${tree.source(from).at(at)} (leads to ${to}, which is not pure)`);
  }
  return found;
}

function filesOf(tree, module) {
  const file = `src/${module}.rs`;
  return [...(tree.exists(file) ? [file] : []), ...tree.files(`src/${module}`, ["rs"])];
}

const CLOCK_READ =
  /\b(?:Date|Instant|Timestamp|Zoned)\s*::\s*now\b|\bSystemTime\b|\bjs_sys\s*::\s*Date\b|\bDate\s*::\s*new_0\b/g;
const CLOCK_METHODS = ["Instant::now", "SystemTime::now", "js_sys::Date::now", "worker::Date::now"];

/** One file reads a clock, and is excused from the lint that forbids it elsewhere. */
export function clockReads(tree, clock) {
  const found = [];
  const reads = matches(tree.source(clock), tree.source(clock).code, CLOCK_READ);
  if (reads.length === 0)
    found.push(`${clock}: reads no clock, so this rule looks for the wrong words or at the wrong file`);
  const lint = tree.read("clippy.toml") ?? "";
  for (const method of CLOCK_METHODS) {
    if (!lint.includes(`${method}"`))
      found.push(`clippy.toml: ${method} is not among the disallowed methods`);
  }
  for (const file of tree.files("src", ["rs"])) {
    if (file === clock) continue;
    const source = tree.source(file);
    found.push(...matches(source, source.code, CLOCK_READ));
    found.push(...matches(source, shippedCode(source), /\bclippy\s*::\s*disallowed_methods\b/g));
  }
  return found;
}

/**
 * No code that ships is excused from the lints against panics, and Cargo.toml turns each of them
 * on.
 */
export function excuses(tree, lints) {
  const found = [];
  const [, table = ""] = /^\[lints\.clippy\]\n([^[]*)/m.exec(tree.read("Cargo.toml") ?? "") ?? [];
  for (const lint of lints) {
    if (!new RegExp(`^${lint} = "(warn|deny|forbid)"`, "m").test(table)) {
      found.push(`Cargo.toml: ${lint} is not among the lints of [lints.clippy]`);
    }
  }
  const excuse = new RegExp(
    `\\bclippy\\s*::\\s*(?:${lints.join("|")}|all|restriction)\\b|\\ballow\\s*\\(\\s*warnings\\b`,
    "g",
  );
  for (const file of tree.files("src", ["rs"])) {
    const source = tree.source(file);
    found.push(...matches(source, shippedCode(source), excuse));
  }
  return found;
}

/** One file names the choices of `on_error`. The folders of `exempt` parse and print them. */
export function onErrorChoices(tree, decider, exempt) {
  const files = tree.files("src", ["rs"]);
  const variants =
    files.map((file) => variantsOf(tree.source(file).code)).find((names) => names.length > 0) ?? [];
  if (variants.length === 0) return ["src: there is no `enum OnError`, so this rule guards nothing"];
  const choice = `(?:${variants.join("|")})\\b`;
  const mention = new RegExp(
    `\\bOnError\\s*::\\s*(?:${choice}|\\*|\\{)|\\bOnError\\s+as\\s+\\w|=\\s*(?:\\w+\\s*::\\s*)*OnError\\s*;`,
    "g",
  );
  const found = [];
  const deciding = shippedCode(tree.source(decider));
  for (const variant of variants) {
    if (!deciding.includes(`OnError::${variant}`))
      found.push(`${decider}: does not decide OnError::${variant}`);
  }
  for (const file of files) {
    if (file === decider || exempt.some((folder) => file.startsWith(`${folder}/`))) continue;
    const source = tree.source(file);
    const code = shippedCode(source);
    found.push(
      ...matches(source, code, mention),
      ...matches(source, implBodies(code), new RegExp(`\\bSelf\\s*::\\s*${choice}`, "g")),
    );
  }
  return found;
}

function variantsOf(code) {
  const [, body = ""] = /\benum\s+OnError\s*\{([^}]*)\}/.exec(code) ?? [];
  return [...body.matchAll(/(?:^|,)\s*(?:#\[[^\]]*\]\s*)*([A-Z]\w*)/g)].map(({ 1: name }) => name);
}

/** The code with everything blanked out but the bodies of `impl … OnError { }`. */
function implBodies(code) {
  let result = blankAll(code);
  for (const { 0: head, index } of code.matchAll(/\bimpl\b[^{};]*\bOnError\s*\{/g)) {
    const end = closing(code, index + head.length - 1);
    result = result.slice(0, index) + code.slice(index, end) + result.slice(end);
  }
  return result;
}

/** The lines in which `pattern` matches, each once. */
function matches(source, code, pattern) {
  return [...new Set([...code.matchAll(pattern)].map(({ index }) => source.at(index)))];
}
