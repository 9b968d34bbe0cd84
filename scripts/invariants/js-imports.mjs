// Which JavaScript file imports which other.
import { join, dirname } from "node:path/posix";

const IMPORT = /\b(?:from|import)\s*\(?\s*(["'])/g;

/** The arrows `{ from, to, at }` between JavaScript files, by relative specifiers. */
export function jsArrows(tree, files) {
  const arrows = [];
  for (const from of files) {
    const { code, text } = tree.source(from);
    for (const match of code.matchAll(IMPORT)) {
      const at = match.index + match[0].length;
      const specifier = text.slice(at, text.indexOf(match[1], at));
      const to = join(dirname(from), specifier);
      if (specifier.startsWith(".") && to !== from && tree.exists(to))
        arrows.push({ from, to, at: match.index });
    }
  }
  return arrows;
}
