// All rules by name: a title, and the search for its findings, which begin with `file:line:`.
import { faultIds } from "../fault-ids.mjs";
import { clockReads, excuses, impurities, onErrorChoices } from "./boundaries.mjs";
import { fileCircles, folderCircles, parentChildCircles } from "./circles.mjs";
import { uncounted } from "./counts.mjs";
import { jsArrows } from "./js-imports.mjs";
import { incompleteHeaders, lockedHosts, longPage, privateWords, strayModules } from "./layout.mjs";
import { openings, riddles, wideLines, WRITTEN } from "./prose.mjs";
import { cratesOf, rustArrows } from "./rust-imports.mjs";
import { longFunctions, MEASURED, median } from "./sizes.mjs";
import { missingSuites } from "./suites.mjs";

/**
 * The rules under the constants of scripts/invariants.mjs. Rules about comments, sizes and headers
 * look at the `folders` of `find(tree, folders)` alone.
 */
export function rulesOf(constants) {
  const { PURE, IMPURE, CLOCK, CLOCK_SCRIPTS, ON_ERROR, ON_ERROR_READ } = constants;
  const { SUITES, STEPS, PANICS, LIMITS } = constants;
  return {
    pure: {
      title: `${PURE.join(", ")} are pure: they name neither the runtime nor a module that does`,
      find: (tree) => impurities(tree, libraryArrows(tree), PURE, IMPURE),
    },
    clock: {
      title: `only ${CLOCK} reads a clock, beside ${CLOCK_SCRIPTS.join(", ")}`,
      find: (tree) => clockReads(tree, CLOCK, CLOCK_SCRIPTS),
    },
    "panic-lints": {
      title: "nothing that ships is excused from the lints against panics",
      find: (tree) => excuses(tree, PANICS),
    },
    "on-error": {
      title: `only ${ON_ERROR} tells the choices of on_error apart`,
      find: (tree) => onErrorChoices(tree, ON_ERROR, ON_ERROR_READ),
    },
    "private-words": {
      title: "no file names someone's machine, a tracker's number or a registry's host",
      find: privateWords,
    },
    "locked-hosts": { title: "package-lock.json names no registry", find: lockedHosts },
    "architecture-length": pageRule("ARCHITECTURE.md", LIMITS.pages),
    "readme-length": pageRule("README.md", LIMITS.pages),
    suites: {
      title: "scripts/test.sh runs each suite, each has tests, and no test is left out",
      find: (tree) => missingSuites(tree, SUITES, STEPS),
    },
    "fault-ids": {
      title: "tests and docs/faults.md name the same faults",
      find: (tree) => faultIds(tree.root),
    },
    counts: {
      title: "a count and its noun are written by limit/counted.rs, which knows the singular",
      find: uncounted,
    },
    ...circleRules(),
    modules: {
      title: "each Rust file of src is a module, and none takes in another by include! or a path",
      find: strayModules,
    },
    "folder-headers": {
      title: "the head of a folder names all that is in it",
      find: (tree, folders) => incompleteHeaders(tree, folders),
    },
    ...proseRules(LIMITS),
    ...sizeRules(LIMITS),
  };
}

function pageRule(page, pages) {
  return {
    title: `${page} has at most ${pages[page]} lines`,
    find: (tree) => longPage(tree, page, pages[page]),
  };
}

function circleRules() {
  const told = (circles) => (tree) => {
    const arrows = arrowsOf(tree);
    if (!arrows.some(({ from }) => from.startsWith("src/")))
      return ["src/lib.rs: no import is found below it"];
    return circles(arrows).map((circle) => tellCircle(tree, circle));
  };
  return {
    "file-circles": { title: "no files import each other in a circle", find: told(fileCircles) },
    "folder-circles": {
      title: "no folders import each other in a circle",
      find: told((arrows) => folderCircles(arrows, "src")),
    },
    "parent-child-circles": {
      title: "no file below a module in src imports from its file while that imports it",
      find: told((arrows) => parentChildCircles(arrows.filter(({ from }) => from.startsWith("src/")))),
    },
  };
}

function tellCircle(tree, circle) {
  const [first] = circle;
  const steps = circle.map(({ from, to, at }) => `${from}:${tree.source(from).lineOf(at)} → ${to}`);
  const more =
    circle.members?.length > circle.length
      ? `, in a knot of ${circle.members.length}: ${circle.members.join(", ")}`
      : "";
  return `${first.from}:${tree.source(first.from).lineOf(first.at)}: ${steps.join(", ")}${more}`;
}

/** By tree, the imports of all its crates and of all its JavaScript. */
const known = new WeakMap();

function libraryArrows(tree) {
  return rustArrows(tree, ["src/lib.rs"]);
}

function arrowsOf(tree) {
  if (!known.has(tree)) {
    const manifest = tree.read("Cargo.toml") ?? "";
    const [, name = ""] = /^name = "([\w-]+)"/m.exec(manifest) ?? [];
    const scripts = tree.files("", ["js", "mjs"]);
    const crates = rustArrows(tree, cratesOf(tree), name.replaceAll("-", "_"));
    known.set(tree, [...crates, ...jsArrows(tree, scripts)]);
  }
  return known.get(tree);
}

function proseRules({ columns, openings: words, riddlesPer100Words }) {
  const written = (tree, folders) =>
    folders.flatMap((folder) => tree.files(folder, WRITTEN)).map((file) => tree.source(file));
  return {
    "comment-width": {
      title: `no line with a comment is wider than ${columns} columns`,
      find: (tree, folders) =>
        written(tree, folders).flatMap((source) =>
          wideLines(source, columns).map(({ line, width }) => `${source.path}:${line}: ${width} columns`),
        ),
    },
    "comment-openings": {
      title: `no comment, paragraph or item opens with ${words.join(", ")}`,
      find: (tree, folders) =>
        written(tree, folders).flatMap((source) =>
          openings(source, words).map(
            ({ line }) => `${source.path}:${line}: ${source.lines[line - 1].trim()}`,
          ),
        ),
    },
    riddles: {
      title: `at most ${riddlesPer100Words} of what, who, whose, those, none … in 100 words of comment`,
      find: (tree, folders) =>
        folders.flatMap((folder) => {
          const counts = written(tree, [folder]).map(riddles);
          const [words, count] = [
            sum(counts.map((each) => each.words)),
            sum(counts.map((each) => each.count)),
          ];
          if (words === 0) return [`${folder}: has no comments, so this rule reads nothing`];
          const rate = (100 * count) / words;
          return rate > riddlesPer100Words
            ? [`${folder}: ${rate.toFixed(2)} in 100 words (${count} in ${words})`]
            : [];
        }),
    },
  };
}

function sizeRules({ fileLines, medianFileLines, functionLines }) {
  const read = (types) => (tree, folders) =>
    folders.flatMap((folder) => tree.files(folder, types)).map((file) => tree.source(file));
  const measured = read(MEASURED);
  return {
    "file-length": {
      title: `no file has more than ${fileLines} lines`,
      find: (tree, folders) =>
        read(WRITTEN)(tree, folders)
          .filter(({ lines }) => lines.length > fileLines)
          .map(({ path, lines }) => `${path}:${fileLines + 1}: the file has ${lines.length} lines`),
    },
    "median-length": {
      title: `half of the files have at most ${medianFileLines} lines`,
      find: (tree, folders) => {
        const middle = median(measured(tree, folders).map(({ lines }) => lines.length));
        return middle > medianFileLines ? [`${folders.join(", ")}: the median is ${middle}`] : [];
      },
    },
    "function-length": {
      title: `no function has more than ${functionLines} lines`,
      find: (tree, folders) =>
        measured(tree, folders).flatMap((source) =>
          longFunctions(source, functionLines).map(
            ({ name, line, length }) => `${source.path}:${line}: ${name} has ${length} lines`,
          ),
        ),
    },
  };
}

function sum(numbers) {
  return numbers.reduce((total, each) => total + each, 0);
}
