// Rules about names in code: the runtime, clocks, excuses from lints, the choices of `on_error`.
import { blankAll, closing } from "./source.mjs";
import { shippedCode } from "./rust-source.mjs";

/** The crates of the runtime, beside those that Cargo.toml ties to the feature `worker`. */
const CRATES = ["worker", "worker_sys", "js_sys", "web_sys", "wasm_bindgen", "wasm_bindgen_futures"];

/**
 * A path or a declaration that begins with a crate of the runtime, or an import that contains one.
 */
function runtimeNames(tree) {
  const [, feature = ""] = /^worker = \[([^\]]*)\]/m.exec(tree.read("Cargo.toml") ?? "") ?? [];
  const tied = [...feature.matchAll(/"dep:([\w-]+)"/g)].map(({ 1: name }) => name.replaceAll("-", "_"));
  const crates = `(?:${[...new Set([...CRATES, ...tied])].join("|")})`;
  return new RegExp(
    `(?<![\\w.])${crates}(?=\\s*::|\\s*;|\\s+as\\s)|\\buse\\s[^;]*\\b${crates}\\b`,
    "g",
  );
}

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
  const runtime = runtimeNames(tree);
  for (const file of files) found.push(...matches(tree.source(file), tree.source(file).code, runtime));
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

const CLOCK_READ = new RegExp(
  [
    "\\b[A-Z]\\w*\\s*::\\s*now(?:_\\w+)?\\b",
    "\\b(?:SystemTime|UNIX_EPOCH|Performance)\\b",
    "\\bjs_sys\\s*::\\s*Date\\b",
    "\\bDate\\s*::\\s*new_0\\b",
    "\\bjs_namespace\\s*=\\s*(?:Date|performance)\\b",
  ].join("|"),
  "g",
);
const CLOCK_READ_BY_SCRIPT = /\bDate\s*\.\s*now\b|\bnew\s+Date\s*(?:\(\s*\)|;)|\bperformance\s*\.\s*now\b/g;
const CLOCK_METHODS = ["Instant::now", "SystemTime::now", "js_sys::Date::now", "worker::Date::now"];

/**
 * One file reads a clock, and is excused from the lint that forbids it elsewhere. Beside it, some
 * scripts do, where the clock of Rust is out of reach.
 */
export function clockReads(tree, clock, scripts) {
  const found = [];
  for (const file of [clock, ...scripts]) {
    const pattern = file === clock ? CLOCK_READ : CLOCK_READ_BY_SCRIPT;
    if (matches(tree.source(file), tree.source(file).code, pattern).length === 0)
      found.push(`${file}: reads no clock, so this rule looks for the wrong words or at the wrong file`);
  }
  const lint = tree.read("clippy.toml") ?? "";
  for (const method of CLOCK_METHODS) {
    if (!lint.includes(`${method}"`))
      found.push(`clippy.toml: ${method} is not among the disallowed methods`);
  }
  for (const file of tree.files("src", ["rs"])) {
    if (file === clock) continue;
    const source = tree.source(file);
    found.push(...matches(source, source.code, CLOCK_READ));
    found.push(...matches(source, shippedCode(source), /\bclippy\s*::\s*(?:disallowed_methods|style|all)\b/g));
  }
  for (const file of tree.files("src", ["js", "mjs"])) {
    if (!scripts.includes(file))
      found.push(...matches(tree.source(file), tree.source(file).code, CLOCK_READ_BY_SCRIPT));
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
  if (/^arithmetic-side-effects-allowed/m.test(tree.read("clippy.toml") ?? ""))
    found.push("clippy.toml: excuses types from arithmetic_side_effects");
  const excuse = new RegExp(
    `\\bclippy\\s*::\\s*(?:${lints.join("|")}|all|restriction)\\b|\\b(?:allow|expect)\\s*\\([^)]*\\bwarnings\\b`,
    "g",
  );
  for (const file of tree.files("src", ["rs"])) {
    const source = tree.source(file);
    found.push(...matches(source, shippedCode(source), excuse));
  }
  return found;
}

/** A value of `on_error`, or a text made of it, that is compared or cast. */
const ASKED =
  /\bon_error(?:\s*\.\s*\w+\s*\(\s*\))*\s*(?:[!=]=|\bas\b)|[!=]=\s*&?(?:\w+\s*\.\s*)*on_error\b(?!\s*::)|\bon_error\s*\.\s*is_\w+/g;

/**
 * One file tells the choices of `on_error` apart. The folders of `exempt` parse and print them, and
 * answer no question about them.
 */
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
    if (file === decider) continue;
    const source = tree.source(file);
    const code = shippedCode(source);
    if (exempt.some((folder) => file.startsWith(`${folder}/`))) {
      found.push(...matches(source, implBodies(code), /\bfn\b[^{};]*->\s*bool\b/g));
      continue;
    }
    found.push(
      ...matches(source, code, mention),
      ...matches(source, code, ASKED),
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
