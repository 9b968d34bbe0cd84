// Compares the fault ids in tests/ with the rows of docs/faults.md. Needs Node alone.
//
//   node scripts/fault-ids.mjs     prints each problem as `file:line: …`; exits 1 where there is one
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { scanJs } from "./invariants/js-source.mjs";
import { scanRust } from "./invariants/rust-source.mjs";
import { blank } from "./invariants/source.mjs";

const PAGE = "docs/faults.md";
const TESTS = "tests";

/** The tests use 59 ids. Finding fewer than this many means that the search is broken, not that tests are gone. */
const FEWEST = 40;

const SCANNERS = { rs: scanRust, js: scanJs, mjs: scanJs };

/** `| GCR-05 |` and the cells after it. */
const ROW = /^\|\s*`?([A-Z]{2,4}-\d{2})`?\s*\|/;
const COLUMNS = 4;

/** The ids that begin a test's name: `gcr_05_…`, `ip_04_ip_05_…`, or the range `path_01_to_04_…`. */
const NAMED = /(?<![A-Za-z0-9_$])([a-z]{2,4}_\d{2}(?:_(?:to_\d{2}|[a-z]{2,4}_\d{2})(?![0-9A-Za-z]))*)(?![0-9A-Za-z])/g;

/** An id in a comment, and the standards that are spelt alike. */
const WRITTEN = /(?<![A-Za-z0-9_-])([A-Z]{2,4}-\d{2})(?![0-9A-Za-z])/g;
const NO_IDS = new Set(["UTF-16", "UTF-32", "CRC-16", "CRC-32"]);

/** Lists what is wrong between tests/ and docs/faults.md below `root`, one `file:line: …` each. */
export function faultIds(root = ".") {
  const missing = [];
  if (!is(root, PAGE, "isFile")) missing.push(`${PAGE}:1: there is no such file`);
  if (!is(root, TESTS, "isDirectory")) missing.push(`${TESTS}:1: there is no such folder`);
  if (missing.length > 0) return missing;

  const problems = [];
  const rows = idsOfPage(root, problems);
  const { used, named } = idsOfTests(root);
  for (const [id, places] of named) {
    if (!rows.has(id)) problems.push(`${places[0]}: ${id} has no row in ${PAGE}`);
  }
  for (const [id, line] of rows) {
    if (!used.has(id)) problems.push(`${PAGE}:${line}: no test uses ${id}`);
  }
  if (used.size < FEWEST) {
    problems.push(`${TESTS}:1: only ${used.size} fault ids are found here, expected at least ${FEWEST}`);
  }
  return problems;
}

function is(root, path, kind) {
  return statSync(join(root, path), { throwIfNoEntry: false })?.[kind]() ?? false;
}

/** Maps each id of the page to its line. Reports ids that are listed twice, and rows that lack a cell. */
function idsOfPage(root, problems) {
  const rows = new Map();
  for (const [index, line] of readFileSync(join(root, PAGE), "utf8").split("\n").entries()) {
    const id = ROW.exec(line)?.[1];
    if (id === undefined) continue;
    const place = `${PAGE}:${index + 1}`;
    if (rows.has(id)) problems.push(`${place}: ${id} is listed twice, first in line ${rows.get(id)}`);
    else rows.set(id, index + 1);
    const cells = line.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/);
    if (cells.length !== COLUMNS || cells.some((cell) => cell.trim() === "")) {
      problems.push(`${place}: ${id} needs ${COLUMNS} filled cells: id, fault, input, right result`);
    }
  }
  return rows;
}

/** The ids that tests use, and those that they name, maybe in a comment, by the places (`file:line`). */
function idsOfTests(root) {
  const used = new Set();
  const named = new Map();
  const entries = readdirSync(join(root, TESTS), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath ?? entry.path, entry.name));
  for (const file of files.sort()) {
    const text = readFileSync(file, "utf8");
    if (text.includes("\0")) continue;
    const comments = SCANNERS[file.slice(file.lastIndexOf(".") + 1)]?.(text).comments ?? [];
    for (const line of blank(text, comments).split("\n")) for (const id of idsOfLine(line)) used.add(id);
    const shown = file.slice(join(root, TESTS).length - TESTS.length);
    for (const [index, line] of text.split("\n").entries()) {
      for (const id of idsOfLine(line)) named.set(id, [...(named.get(id) ?? []), `${shown}:${index + 1}`]);
    }
  }
  return { used, named };
}

/** The ids of one line, each once. */
function idsOfLine(line) {
  const ids = new Set();
  for (const [, names] of line.matchAll(NAMED)) {
    let area = "";
    let last = 0;
    for (const [, word, digits] of names.matchAll(/([a-z]{2,4})_(\d{2})/g)) {
      const number = Number(digits);
      if (word !== "to") area = word.toUpperCase();
      const first = word === "to" ? last + 1 : number;
      for (let each = first; each <= number; each++) ids.add(`${area}-${String(each).padStart(2, "0")}`);
      last = number;
    }
  }
  for (const [, id] of line.matchAll(WRITTEN)) {
    if (!NO_IDS.has(id)) ids.add(id);
  }
  return ids;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const problems = faultIds(process.argv[2]);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
