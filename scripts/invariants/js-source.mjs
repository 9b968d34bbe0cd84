// A small scanner: comments, strings and functions of JavaScript; comments of HTML and CSS.
import { afterQuote, nextMatch } from "./rust-source.mjs";
import { blank, closing } from "./source.mjs";

const LITERAL_OR_COMMENT = /["'`/{}]/g;

/** A slash begins a regular expression after one of these words or characters. */
const BEFORE_REGEX =
  /(?:^|[(,=:[!&|?{};+\-*%<>~^]|\b(?:return|typeof|case|of|in|await|yield|delete|void|throw|else|do))\s*$/;

/** Comments, and the code with comments and the contents of strings blanked out. */
export function scanJs(text) {
  const comments = [];
  const blanked = [];
  const braces = []; // per open brace, whether it is a template's `${`
  let at = nextMatch(LITERAL_OR_COMMENT, text, 0);
  for (; at < text.length; at = nextMatch(LITERAL_OR_COMMENT, text, at)) {
    const start = at;
    const two = text.slice(at, at + 2);
    if (two === "//" || two === "/*") {
      const end = text.indexOf(two === "//" ? "\n" : "*/", at + 2);
      at = end === -1 ? text.length : end + (two === "//" ? 0 : 2);
      comments.push({ start, end: at });
      blanked.push({ start, end: at });
    } else {
      at = afterLiteral(text, at, braces);
      if (at > start + 1) blanked.push({ start: start + 1, end: at - 1 });
    }
  }
  return { comments, code: blank(text, blanked) };
}

function afterLiteral(text, at, braces) {
  const char = text[at];
  if (char === '"' || char === "'") return afterQuote(text, at);
  if (char === "`") return afterTemplate(text, at + 1, braces);
  if (char === "/" && BEFORE_REGEX.test(text.slice(Math.max(0, at - 40), at))) return afterRegex(text, at);
  if (char === "{") braces.push(false);
  if (char === "}" && braces.pop()) return afterTemplate(text, at + 1, braces);
  return at + 1;
}

/** The offset after a template's text: after its end, or after the `${` where code begins. */
function afterTemplate(text, at, braces) {
  for (; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === "`") return at + 1;
    else if (text[at] === "$" && text[at + 1] === "{") {
      braces.push(true);
      return at + 2;
    }
  }
  return at;
}

function afterRegex(text, at) {
  let inClass = false;
  for (let end = at + 1; end < text.length && text[end] !== "\n"; end++) {
    if (text[end] === "\\") end++;
    else if (text[end] === "[") inClass = true;
    else if (text[end] === "]") inClass = false;
    else if (text[end] === "/" && !inClass) return end + 1;
  }
  return at + 1;
}

/** Comments of HTML and CSS. Their code is not looked at. */
export function scanHtml(text) {
  const comments = [...text.matchAll(/<!--[^]*?-->|\/\*[^]*?\*\//g)].map(({ 0: found, index }) => ({
    start: index,
    end: index + found.length,
  }));
  return { comments, code: blank(text, comments) };
}

/** The functions: their names, and the offsets where each begins and ends. */
export function jsFunctions(code) {
  const found = [];
  for (const { index } of code.matchAll(/(?:\)|=>)\s*\{/g)) {
    const body = code.indexOf("{", index);
    const start = code[index] === ")" ? opening(code, index) : lineStart(code, index);
    const name = /([A-Za-z_$#][\w$]*)\s*$/.exec(code.slice(0, start))?.[1] ?? "";
    if (/^(if|for|while|switch|catch|with|await)$/.test(name)) continue;
    found.push({ name: name || "a function", start, end: closing(code, body) });
  }
  for (const { 0: arrow, index } of code.matchAll(/=>\s*(?=[^\s{])/g)) {
    const end = afterExpression(code, index + arrow.length);
    found.push({ name: "a function", start: lineStart(code, index), end });
  }
  return found;
}

/** The offset after an expression: at the comma, the semicolon or the bracket that ends it. */
function afterExpression(code, at) {
  for (; at < code.length; at++) {
    if (/[[({]/.test(code[at])) at = closing(code, at) - 1;
    else if (/[,;\])}]/.test(code[at])) return at;
  }
  return code.length;
}

function lineStart(code, at) {
  return code.lastIndexOf("\n", at) + 1;
}

/** The offset of the parenthesis that the one at `close` closes. */
function opening(code, close) {
  let depth = 0;
  for (let at = close; at >= 0; at--) {
    if (code[at] === ")") depth++;
    else if (code[at] === "(" && --depth === 0) return at;
  }
  return 0;
}
