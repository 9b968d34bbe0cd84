// Where a router takes two paths for one that Penstock keeps apart, and how the one becomes the other: a difference counts as
// explained only where this very rewriting leads to the same resource and to its limit. What it means, and what to do about
// it, is in tests/data/reading.json, and from there in docs/reading.md.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../harness/index.mjs";

/** By the id of a difference: a path's other spellings, of which one has to explain it. */
const REWRITINGS = {
  // Parameters keep their case, so it is the first segments alone.
  "case": (path) => [...path.matchAll(/[^/\\]+/g)].map(({ 0: last, index }) => path.slice(0, index + last.length).toLowerCase() + path.slice(index + last.length)),
  // nginx takes several slashes for one before it looks for dot segments.
  "encoded-slash": (path) => [path.replace(/%2f/gi, "/"), path.replace(/%2f/gi, "/").replace(/\/+/g, "/")],
};

const { differences } = JSON.parse(readFileSync(join(ROOT, "tests/data/reading.json"), "utf8"));

/** All that is documented: `{ id, routers, rewrite(target) }`, the latter a list. */
export const DIFFERENCES = differences.filter(({ tested }) => tested).map(({ id, servers }) => ({ id, routers: servers, rewrite: onPath(REWRITINGS[id]) }));

/** A rewriting of the path alone, whatever form the target has. */
function onPath(rewrite) {
  return (target) => {
    const [, authority = "", path, rest] = /^(https?:\/\/[^/?#\\]*)?([^?#]*)(.*)$/su.exec(target);
    return rewrite(path).map((other) => authority + other + rest);
  };
}
