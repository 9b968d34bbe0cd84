// Tables of the prose and the sizes in src, by folder and by file.
import { dirname } from "node:path/posix";
import { openings, riddles, wideLines, WRITTEN } from "./prose.mjs";
import { longFunctions, MEASURED, median } from "./sizes.mjs";
import { extension } from "./tree.mjs";

const COLUMNS = ["lines", "words", "riddles", "per 100", "wide", "widest", "openings", "long fns"];

export function printReport(tree, limits) {
  const files = tree.files("src", WRITTEN).map((path) => measure(tree.source(path), limits));
  const folders = [...new Set(files.flatMap(({ path }) => above(dirname(path))))].sort();
  console.log(`\n${heading("folder")}   files  median`);
  for (const folder of folders) {
    const inside = files.filter(({ path }) => path.startsWith(`${folder}/`));
    const lengths = inside.filter(({ path }) => MEASURED.includes(extension(path))).map(({ lines }) => lines);
    console.log(
      `${row(folder, total(inside))}  ${String(inside.length).padStart(6)}  ${String(median(lengths)).padStart(6)}`,
    );
  }
  console.log(`\n${heading("file")}`);
  for (const file of files) console.log(row(file.path, file));
}

function measure(source, limits) {
  const wide = wideLines(source, limits.columns);
  const { words, count } = riddles(source);
  return {
    path: source.path,
    lines: source.lines.length,
    words,
    riddles: count,
    wide: wide.length,
    widest: Math.max(0, ...wide.map(({ width }) => width)),
    openings: openings(source, limits.openings).length,
    longFunctions: MEASURED.includes(extension(source.path))
      ? longFunctions(source, limits.functionLines).length
      : 0,
  };
}

function total(files) {
  const sum = (key) => files.reduce((all, file) => all + file[key], 0);
  return {
    ...Object.fromEntries(
      ["lines", "words", "riddles", "wide", "openings", "longFunctions"].map((key) => [key, sum(key)]),
    ),
    widest: Math.max(0, ...files.map(({ widest }) => widest)),
  };
}

function above(folder) {
  return folder === "." ? [] : [folder, ...above(dirname(folder))];
}

function heading(name) {
  return name.padEnd(44) + COLUMNS.map((column) => column.padStart(10)).join("");
}

function row(name, { lines, words, riddles: count, wide, widest, openings: opened, longFunctions: long }) {
  const rate = words === 0 ? "-" : ((100 * count) / words).toFixed(2);
  const cells = [lines, words, count, rate, wide, widest || "-", opened, long];
  return name.padEnd(44) + cells.map((cell) => String(cell).padStart(10)).join("");
}
