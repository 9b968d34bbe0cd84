// How long files and functions are.
import { jsFunctions } from "./js-source.mjs";
import { rustFunctions } from "./rust-source.mjs";
import { extension } from "./tree.mjs";

/** The files whose functions are measured, and whose lengths have a median. */
export const MEASURED = ["rs", "js", "mjs"];

/** The functions of a file with more than `most` lines: first line and length of each. */
export function longFunctions(source, most) {
  const functions = extension(source.path) === "rs" ? rustFunctions(source.code) : jsFunctions(source.code);
  const measured = functions.map(({ name, start, end }) => {
    const line = source.lineOf(start);
    return { name, line, length: source.lineOf(end - 1) - line + 1 };
  });
  return measured.filter(({ length }) => length > most);
}

export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}
