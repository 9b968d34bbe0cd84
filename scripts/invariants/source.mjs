// One source file, with its code and its comments told apart.

export class Source {
  #starts;

  /** `code` is the text with comments and strings blanked out, `comments` the spans of comments. */
  constructor(path, text, { code, comments }) {
    this.path = path;
    this.text = text;
    this.code = code;
    this.lines = text.split("\n");
    if (this.lines.at(-1) === "") this.lines.pop();
    this.#starts = lineStarts(text);
    this.comments = comments.map(({ start, end }) => ({
      line: this.lineOf(start),
      lastLine: this.lineOf(end - 1),
      text: text.slice(start, end),
      alone: /^\s*$/.test(text.slice(this.#starts[this.lineOf(start) - 1], start)),
    }));
  }

  /** The number of the line, from 1, that holds the character at `offset`. */
  lineOf(offset) {
    let low = 0;
    let high = this.#starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.#starts[middle] <= offset) low = middle;
      else high = middle;
    }
    return low + 1;
  }

  /** A finding at the character `offset`, as `file:line: the line`. */
  at(offset) {
    const line = this.lineOf(offset);
    return `${this.path}:${line}: ${(this.lines[line - 1] ?? "").trim()}`;
  }
}

function lineStarts(text) {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** The text with some spans blanked out. Lines and offsets stay as they are. */
export function blank(text, spans) {
  let result = "";
  let from = 0;
  for (const { start, end } of spans) {
    result += text.slice(from, start) + blankAll(text.slice(start, end));
    from = end;
  }
  return result + text.slice(from);
}

/** Spaces in place of the text, line for line. */
export function blankAll(text) {
  return text.includes("\n")
    ? text.replace(/[^\n]+/g, (line) => " ".repeat(line.length))
    : " ".repeat(text.length);
}

/** The offset after the bracket that closes the one at `open`, in blanked code. */
export function closing(code, open) {
  const pairs = { "{": "}", "(": ")", "[": "]" };
  const [opens, closes] = [code[open], pairs[code[open]]];
  let depth = 0;
  for (let at = open; at < code.length; at++) {
    if (code[at] === opens) depth++;
    else if (code[at] === closes && --depth === 0) return at + 1;
  }
  return code.length;
}
