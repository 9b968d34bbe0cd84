// The prose of comments: its width, its first words, and its share of pronouns without a noun.

/** The files whose comments are read. */
export const WRITTEN = ["rs", "js", "mjs", "html", "css"];

const RIDDLE = /\b(?:what|who|whom|whose|whoever|whatever|those|none)\b/gi;
const LIST_ITEM = /^(?:[-*+]|\d+[.)])\s+/;

/** Comment lines wider than `columns`. A comment of one word, such as an address, may be wider. */
export function wideLines(source, columns) {
  const found = [];
  for (const number of commentLines(source)) {
    const line = source.lines[number - 1] ?? "";
    const words = line
      .replace(/^\s*(?:\/\/[/!]?|\/?\*+)/, "")
      .trim()
      .split(/\s+/);
    if (width(line) > columns && words.length > 1) found.push({ line: number, width: width(line) });
  }
  return found;
}

function width(line) {
  return [...line].length;
}

function commentLines(source) {
  const numbers = new Set();
  for (const { line, lastLine } of source.comments) {
    for (let number = line; number <= lastLine; number++) numbers.add(number);
  }
  return numbers;
}

/** The comments, paragraphs and items of lists that begin with one of the words (in lower case). */
export function openings(source, words) {
  const found = [];
  for (const block of blocks(source)) {
    let begins = true;
    for (const { line, text } of block) {
      const heading = /^#+\s/.test(text);
      if (begins || heading || LIST_ITEM.test(text)) {
        const word = firstWord(text);
        if (words.includes(word.toLowerCase())) found.push({ line, word });
      }
      begins = text === "" || heading;
    }
  }
  return found;
}

/** The first word of a line; empty where it begins with code or a number. */
function firstWord(text) {
  return /^[^\p{L}\d`]*([A-Za-z]+)/u.exec(text.replace(LIST_ITEM, ""))?.[1] ?? "";
}

/**
 * The number of words in the comments, and of riddles among them. Code in backticks is one word.
 */
export function riddles(source) {
  let words = 0;
  let count = 0;
  for (const block of blocks(source)) {
    const text = block.map((line) => line.text).join(" ");
    const prose = text.replace(/``[^]*?``|`[^`]*`/g, " code ").replace(/\]\([^)\s]*\)/g, "]");
    words += prose.match(/[\p{L}\d][\p{L}\d'’-]*/gu)?.length ?? 0;
    count += prose.match(RIDDLE)?.length ?? 0;
  }
  return { words, count };
}

/**
 * The comments as blocks of lines `{ line, text }`, without markers, and with empty lines in place of
 * fenced examples.
 */
export function blocks(source) {
  const found = [];
  let last;
  for (const comment of source.comments) {
    const marker = /^(?:\/\/[/!]?|\/\*|<!--)/.exec(comment.text)[0];
    const goesOn =
      last?.alone &&
      comment.alone &&
      last.marker === marker &&
      last.lastLine === comment.line - 1 &&
      marker.startsWith("//");
    if (!goesOn) found.push([]);
    found.at(-1).push(...linesOf(comment, marker));
    last = { ...comment, marker };
  }
  return found.map(withoutExamples);
}

function linesOf({ line, text }, marker) {
  const inner = marker.startsWith("//")
    ? text.slice(marker.length)
    : text.replace(/^(?:\/\*[*!]?|<!--)|(?:\*+\/|-->)$/g, "");
  return inner.split("\n").map((part, index) => ({
    line: line + index,
    text: part.replace(index > 0 ? /^\s*\*(?!\*)/ : "", "").trim(),
  }));
}

function withoutExamples(block) {
  let inside = false;
  return block.map(({ line, text }) => {
    const fence = /^(?:```|~~~)/.test(text);
    if (fence) inside = !inside;
    return { line, text: inside || fence ? "" : text };
  });
}
