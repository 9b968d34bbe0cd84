// Documented differences: a router takes two paths for one that Penstock keeps apart. A difference
// explains a spelling only where its rewriting leads to the same resource and to its limit.
// tests/data/reading.json has the differences for operators, and docs/reading.md shows them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../harness/index.mjs";

/** By the id of a difference: other spellings of a path, of which one has to explain it. */
const REWRITINGS = {
  // Parameters keep their case, so the rewriting is of the first segments alone.
  "case": (path) => [...path.matchAll(/[^/\\]+/g)].map(({ 0: last, index }) => lowerUpTo(path, index + last.length)),
  // nginx takes several slashes for one before it looks for dot segments.
  "encoded-slash": (path) => [path.replace(/%2f/gi, "/"), path.replace(/%2f/gi, "/").replace(/\/+/g, "/")],
};

function lowerUpTo(path, end) {
  return path.slice(0, end).toLowerCase() + path.slice(end);
}

const { differences } = JSON.parse(readFileSync(join(ROOT, "tests/data/reading.json"), "utf8"));

/** Every documented difference: `{ id, routers, rewrite }`; `rewrite(target)` is a list. */
export const DIFFERENCES = differences
  .filter(({ tested }) => tested)
  .map(({ id, servers }) => ({ id, routers: servers, rewrite: onPath(REWRITINGS[id]) }));

/** A rewriting of the path alone, in any form of target. */
function onPath(rewrite) {
  return (target) => {
    const [, authority = "", path, rest] = /^(https?:\/\/[^/?#\\]*)?([^?#]*)(.*)$/su.exec(target);
    return rewrite(path).map((other) => authority + other + rest);
  };
}
