// Names each module of our own once among the imports of the WebAssembly module. wasm-bindgen imports a module once for each function
// that needs no glue, and each import becomes the same key of one object; bundlers warn of that. Run by scripts/bundle.sh.
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";

/** The text of the glue without the imports and keys that repeat an earlier one. */
function importOnce(text) {
  const first = new Map();
  const repeated = new Set();
  for (const [, name, module] of text.matchAll(/^import \* as (\w+) from "([^"]+)";?$/gm)) {
    if (first.has(module)) repeated.add(name);
    else first.set(module, name);
  }
  const repeats = (line) => {
    const name = /^import \* as (\w+) from "[^"]+";?$/.exec(line)?.[1] ?? /^\s*"[^"]+": (\w+),$/.exec(line)?.[1];
    return repeated.has(name);
  };
  return text.split("\n").filter((line) => !repeats(line)).join("\n");
}

const path = process.argv[2];
writeFileSync(path, importOnce(readFileSync(path, "utf8")));
