// The arrows between the files of a crate: imports and paths, followed to the file with the item.
import { readCrate } from "./rust-modules.mjs";

const OUTSIDE = { outside: true };

/**
 * The arrows `{ from, to, at }` between the files of some crates, by their roots. The first crate
 * is the library; the others may import it by `libraryName`.
 */
export function rustArrows(tree, roots, libraryName) {
  const [library, ...others] = roots.map((root) => readCrate(tree, root));
  const arrows = [];
  for (const { modules } of [library, ...others]) {
    for (const module of modules) addArrows(arrows, module, new Resolver(library.root, libraryName));
  }
  return arrows;
}

/** The root files of the crates that Cargo.toml names, the library first. */
export function cratesOf(tree) {
  const roots = [...(tree.read("Cargo.toml") ?? "").matchAll(/^path = "([^"]+\.rs)"/gm)];
  return ["src/lib.rs", ...roots.map(({ 1: path }) => path).filter((path) => tree.exists(path))];
}

function addArrows(arrows, module, resolver) {
  const add = (target, at) => {
    if (target?.file !== undefined && target.file !== module.file)
      arrows.push({ from: module.file, to: target.file, at });
  };
  const heads = new Set(module.paths.map(({ path }) => path[0]));
  for (const [name, { path, at }] of module.uses) {
    const target = resolver.resolve(module, path);
    // If paths of this file begin with an imported module, each of them adds its own arrow.
    if (!(target?.module && heads.has(name))) add(target, at);
  }
  for (const { path, at } of [...module.globs, ...module.paths]) add(resolver.resolve(module, path), at);
}

class Resolver {
  constructor(library, libraryName) {
    this.library = library;
    this.libraryName = libraryName;
  }

  /**
   * Follows a path from `module` to `{ file, module }`. `module` is missing if the path ends at an
   * item. The result is `undefined` if the path leads to another crate, but the file that passes a
   * name of another crate on, by `pub use worker::Env`, counts as the file of that name.
   */
  resolve(module, path, seen = new Set()) {
    let [at, current] = this.#start(module, path);
    for (; at < path.length; at++) {
      const next = this.#step(current, path[at], seen);
      if (next === OUTSIDE) return current.file === module.file ? undefined : { file: current.file };
      // An unknown first name is another crate or a local; a later one counts for the file reached.
      if (next === undefined) return at === 0 ? undefined : { file: current.file };
      if (!next.module) return next;
      current = next.module;
    }
    return { file: current.file, module: current };
  }

  #start(module, path) {
    const [first] = path;
    if (first === "crate") return [1, module.root];
    if (first === this.libraryName && module.root !== this.library) return [1, this.library];
    let at = first === "self" ? 1 : 0;
    for (; path[at] === "super" && module.parent; at++) module = module.parent;
    return [at, module];
  }

  #step(module, name, seen) {
    const child = module.children.get(name);
    if (child) return { file: child.file, module: child };
    if (module.items.has(name)) return { file: module.file };
    const key = `${module.file} ${name}`;
    if (seen.has(key)) return undefined;
    seen.add(key);
    const used = module.uses.get(name);
    // `use worker::Env` itself begins with a name that is not of this crate.
    if (used) return this.resolve(module, used.path, seen) ?? OUTSIDE;
    for (const { path } of module.globs) {
      const from = this.resolve(module, path, seen);
      const found = from?.module && this.#step(from.module, name, seen);
      if (found) return found;
    }
    return undefined;
  }
}
