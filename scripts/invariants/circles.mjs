// Circles of imports: between files, between folders, and between a module and its children.
import { dirname } from "node:path/posix";

/**
 * The circles among files. `parentChildCircles` looks at the arrows from a file up to its parents.
 */
export function fileCircles(arrows) {
  return circles(
    arrows.filter(({ from, to }) => !isBelow(from, to)),
    (file) => file,
  );
}

/** The arrows from a file up to a parent that imports the file, directly or through others. */
export function parentChildCircles(arrows) {
  const reaches = reaching(successors(arrows));
  const up = arrows.filter(({ from, to }) => isBelow(from, to) && reaches(to, from));
  return [...new Map(up.map((arrow) => [`${arrow.from} ${arrow.to}`, [arrow]])).values()];
}

/**
 * The circles among the entries of one folder, at any depth, that contain a folder. A folder and
 * the module file beside it (`cache/` and `cache.rs`) count as one entry. The `mod.rs` of a folder
 * is no entry of it.
 */
export function folderCircles(arrows, source) {
  const folders = new Set(arrows.flatMap(({ from, to }) => [...above(from), ...above(to)]));
  const inside = [...folders].filter((folder) => folder === source || folder.startsWith(`${source}/`));
  const found = inside.sort().flatMap((parent) => {
    const unit = (file) => unitOf(file, parent);
    const between = arrows.filter(({ from, to }) => unit(from) && unit(to) && unit(from) !== unit(to));
    return circles(between, unit);
  });
  return found.filter((circle) => circle.some(({ fromUnit }) => folders.has(fromUnit)) && !isChain(circle));
}

/** Whether each arrow begins where the one before it ends. `fileCircles` reports such a circle. */
function isChain(circle) {
  return circle.every(({ to }, index) => to === circle[(index + 1) % circle.length].from);
}

/**
 * The entry of `parent` that holds the file, without `.rs`; `undefined` for the own file of
 * `parent`.
 */
function unitOf(file, parent) {
  if (!file.startsWith(`${parent}/`)) return undefined;
  const [first, ...rest] = file.slice(parent.length + 1).split("/");
  const isOwn = rest.length === 0 && /^(mod|lib|main)\.rs$/.test(first);
  return isOwn ? undefined : `${parent}/${first.replace(/\.rs$/, "")}`;
}

function above(file) {
  const folder = dirname(file);
  return folder === "." ? [] : [folder, ...above(folder)];
}

/**
 * Whether a Rust file lies below the module of another: `a/b.rs` is below `a.rs` and `a/mod.rs`.
 */
function isBelow(file, other) {
  const folder = other.replace(/\/(mod|lib|main)\.rs$/, "").replace(/\.rs$/, "");
  return other.endsWith(".rs") && file !== other && file.startsWith(`${folder}/`);
}

/**
 * The circles among units of files: each the arrows of a shortest way around, and all its
 * `members`.
 */
function circles(arrows, unit) {
  const named = arrows.map((arrow) => ({ ...arrow, fromUnit: unit(arrow.from), toUnit: unit(arrow.to) }));
  const next = successors(named.map(({ fromUnit, toUnit }) => ({ from: fromUnit, to: toUnit })));
  const reaches = reaching(next);
  const done = new Set();
  const found = [];
  for (const start of [...next.keys()].sort()) {
    if (done.has(start)) continue;
    const members = [...next.keys()].filter((other) => reaches(start, other) && reaches(other, start));
    for (const member of members) done.add(member);
    if (members.length === 0) continue;
    const way = shortestWay(next, start);
    const circle = way.map((from, index) => {
      const to = way[(index + 1) % way.length];
      return named.find((arrow) => arrow.fromUnit === from && arrow.toUnit === to);
    });
    circle.members = members;
    found.push(circle);
  }
  return found;
}

function successors(arrows) {
  const next = new Map();
  for (const { from, to } of arrows) {
    if (!next.has(from)) next.set(from, new Set());
    next.get(from).add(to);
  }
  return next;
}

/** A function that tells whether one or more arrows lead from one to another. */
function reaching(next) {
  const known = new Map();
  return (from, to) => {
    if (!known.has(from)) known.set(from, reachedFrom(next, from));
    return known.get(from).has(to);
  };
}

function reachedFrom(next, from) {
  const seen = new Set();
  const open = [from];
  while (open.length > 0) {
    for (const other of next.get(open.pop()) ?? []) {
      if (!seen.has(other)) (seen.add(other), open.push(other));
    }
  }
  return seen;
}

/** The members of a shortest circle through `start`, in order. */
function shortestWay(next, start) {
  const ways = [[start]];
  const seen = new Set();
  for (const way of ways) {
    for (const other of next.get(way.at(-1)) ?? []) {
      if (other === start) return way;
      if (!seen.has(other)) (seen.add(other), ways.push([...way, other]));
    }
  }
  return [start];
}
