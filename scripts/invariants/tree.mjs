// The files of one checkout, each read and taken apart once.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { scanHtml, scanJs } from "./js-source.mjs";
import { scanRust } from "./rust-source.mjs";
import { Source } from "./source.mjs";

const SCANNERS = { rs: scanRust, js: scanJs, mjs: scanJs, html: scanHtml, css: scanHtml };

export class Tree {
  #sources = new Map();
  #ignored;

  constructor(root) {
    this.root = root;
    this.#ignored = ignored(root);
  }

  exists(path) {
    return existsSync(join(this.root, path));
  }

  /** The text of a file, or `undefined` where there is none. */
  read(path) {
    return this.exists(path) ? readFileSync(join(this.root, path), "utf8") : undefined;
  }

  /**
   * The sorted paths of the files below `folder` that git does not ignore, all or by `extensions`.
   */
  files(folder = "", extensions = []) {
    const found = [];
    this.#walk(folder, found);
    return extensions.length === 0 ? found : found.filter((path) => extensions.includes(extension(path)));
  }

  /** A source file, with code and comments told apart. */
  source(path) {
    if (!this.#sources.has(path)) {
      const text = this.read(path) ?? "";
      this.#sources.set(path, new Source(path, text, SCANNERS[extension(path)](text)));
    }
    return this.#sources.get(path);
  }

  #walk(folder, found) {
    if (!this.exists(folder)) return;
    const entries = readdirSync(join(this.root, folder), { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (this.#ignored.has(`/${path}`) || this.#ignored.has(entry.name)) continue;
      if (entry.isDirectory()) this.#walk(path, found);
      else if (entry.isFile()) found.push(path);
    }
  }
}

export function extension(path) {
  return path.slice(path.lastIndexOf(".") + 1);
}

/** The lines of `.gitignore`: `/path/from/the/root`, or a name that is ignored in any folder. */
function ignored(root) {
  const file = join(root, ".gitignore");
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
  return new Set([
    ".git",
    "node_modules",
    ...lines.map((line) => line.trim().replace(/\/$/, "")).filter(Boolean),
  ]);
}
