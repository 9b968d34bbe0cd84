// A small scanner for Rust: comments, strings, characters, and the items of unit tests.
import { blank, blankAll, closing } from "./source.mjs";

const RAW_STRING = /(?:br|cr|r)(#*)"/y;
const LITERAL_OR_COMMENT = /["'/rbc]/g;
const CHARACTER = /'(?:\\(?:x[0-9a-fA-F]{2}|u\{[^}]*\}|.)|[^\\'\n])'/uy;

/** Comments, and the code with comments and the contents of strings blanked out. */
export function scanRust(text) {
  const comments = [];
  const blanked = [];
  let at = nextMatch(LITERAL_OR_COMMENT, text, 0);
  for (; at < text.length; at = nextMatch(LITERAL_OR_COMMENT, text, at)) {
    const start = at;
    const two = text.slice(at, at + 2);
    if (two === "//") {
      const end = text.indexOf("\n", at);
      at = end === -1 ? text.length : end;
    } else if (two === "/*") {
      at = afterBlockComment(text, at);
    } else {
      at = afterLiteral(text, at);
      if (at > start + 1) blanked.push({ start: start + 1, end: at - 1 });
      continue;
    }
    comments.push({ start, end: at });
    blanked.push({ start, end: at });
  }
  return { comments, code: blank(text, blanked) };
}

/** Block comments nest. */
function afterBlockComment(text, at) {
  let depth = 0;
  do {
    const two = text.slice(at, at + 2);
    if (two === "/*") depth++;
    if (two === "*/") depth--;
    at += two === "/*" || two === "*/" ? 2 : 1;
  } while (depth > 0 && at < text.length);
  return at;
}

/** The offset after the literal at `at`, or after one character of code. */
function afterLiteral(text, at) {
  if (!/\w/.test(text[at - 1] ?? " ")) {
    const hashes = matchAt(RAW_STRING, text, at)?.[1];
    if (hashes !== undefined) {
      const end = text.indexOf(`"${hashes}`, at + text.slice(at).indexOf('"') + 1);
      return end === -1 ? text.length : end + 1 + hashes.length;
    }
  }
  if (text[at] === '"') return afterQuote(text, at);
  if (text[at] === "'") return at + (matchAt(CHARACTER, text, at)?.[0].length ?? 1);
  return at + 1;
}

/** The offset after a string that ends with the quote it begins with. */
export function afterQuote(text, at) {
  const quote = text[at];
  for (let end = at + 1; end < text.length; end++) {
    if (text[end] === "\\") end++;
    else if (text[end] === quote) return end + 1;
  }
  return text.length;
}

/** The offset of the next match, or of the end. */
export function nextMatch(global, text, at) {
  global.lastIndex = at;
  return global.exec(text)?.index ?? text.length;
}

function matchAt(sticky, text, at) {
  sticky.lastIndex = at;
  return sticky.exec(text);
}

/** The code of a file without its unit tests: without each item or part that follows `#[cfg(test)]`. */
export function shippedCode(source) {
  if (/(^|\/)tests\.rs$/.test(source.path)) return blankAll(source.code);
  const tests = [];
  for (const { index } of source.code.matchAll(/#\[cfg\(test\)\]/g)) {
    if (index < (tests.at(-1)?.end ?? 0)) continue;
    tests.push({ start: index, end: afterTested(source.code, index) });
  }
  return blank(source.code, tests);
}

const ATTRIBUTED = /\s*(?:pub\b\s*(?:\([^)]*\))?\s*)?/y;
const ITEM =
  /(?:mod|use|fn|struct|enum|union|trait|impl|type|const|static|unsafe|async|extern|macro_rules|let)\b(?!\s*:)/y;

/**
 * The offset after the item, field, variant or arm that the attribute at `at` belongs to. All but
 * items end at a comma, or with the braces around them.
 */
function afterTested(code, at) {
  const end = afterItem(code, at);
  while (code[at] === "#") {
    at = closing(code, at + 1);
    ATTRIBUTED.lastIndex = at;
    at += ATTRIBUTED.exec(code)[0].length;
  }
  ITEM.lastIndex = at;
  if (ITEM.test(code)) return end;
  for (; at < end; at++) {
    if (/[[({]/.test(code[at])) at = closing(code, at) - 1;
    else if (/[,\])}]/.test(code[at])) return at;
  }
  return end;
}

/** The offset after the item that begins, with its attributes, at `at`. */
function afterItem(code, at) {
  for (; at < code.length; at++) {
    if (code[at] === "[" || code[at] === "(") at = closing(code, at) - 1;
    else if (code[at] === ";") return at + 1;
    else if (code[at] === "{") return closing(code, at);
  }
  return code.length;
}

/** The functions with a body, and the macros: their names, and the offsets where each begins and ends. */
export function rustFunctions(code) {
  const found = [];
  for (const { 1: name, index } of code.matchAll(/\b(?:fn|macro_rules\s*!)\s+([A-Za-z_]\w*)/g)) {
    const end = afterItem(code, index);
    if (code[end - 1] === "}") found.push({ name, start: index, end });
  }
  return found;
}
