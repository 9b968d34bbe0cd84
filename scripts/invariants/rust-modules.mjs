// The modules of a crate, read from its files: their children, items, imports and paths.
import { dirname } from "node:path/posix";
import { shippedCode } from "./rust-source.mjs";

const TOKEN = /[A-Za-z_]\w*|::|[{}()[\];,*=<!#.']/g;
const ITEM = /^(?:struct|enum|union|trait|type|fn|const|static|macro_rules)$/;
/** A function or a module in an attribute's string, as in `serde(with = "a::b")`. */
const PATH_IN_STRING = /"((?:[A-Za-z_]\w*::)+[A-Za-z_]\w*)"/g;
const NO_NAME = /^(?:fn|unsafe|async|extern|mut|_)$/;

class Module {
  constructor(file, folder, parent) {
    this.file = file;
    /** The folder that holds the files of its children. */
    this.folder = folder;
    this.parent = parent;
    this.root = parent?.root ?? this;
    this.children = new Map();
    this.items = new Set();
    /** Names in scope by `use`: `{ path, glob, at }` each, by the name or alias. */
    this.uses = new Map();
    this.globs = [];
    /** Paths in the code: `{ path, at }`. */
    this.paths = [];
  }
}

/** The root module of the crate with the root `file`, and all modules of the crate. */
export function readCrate(tree, file) {
  const modules = [];
  const read = (path, folder, parent) => {
    const module = new Module(path, folder, parent);
    modules.push(module);
    const tokens = [...shippedCode(tree.source(path)).matchAll(TOKEN)].map(({ 0: text, index }) => ({
      text,
      at: index,
    }));
    new Reader(tokens, tree.source(path).text, read, tree, modules).read(module);
    return module;
  };
  return { root: read(file, dirname(file)), modules };
}

/** Reads the tokens of one file into its module, and into the modules written out within it. */
class Reader {
  #at = 0;

  constructor(tokens, source, readFile, tree, modules) {
    this.tokens = tokens;
    this.source = source;
    this.readFile = readFile;
    this.tree = tree;
    this.modules = modules;
  }

  read(module) {
    const scopes = [{ module, items: true }];
    while (this.#at < this.tokens.length) {
      const scope = scopes.at(-1);
      const text = this.#text();
      if (text === "#" && this.#attribute() > 0) this.#readAttribute(scope.module);
      else if (text === "{")
        (scopes.push({ module: scope.module, items: scope.items && this.#text(-1) === "extern" }),
          this.#at++);
      else if (text === "}") (scopes.length > 1 && scopes.pop(), this.#at++);
      else if (text === "mod" && this.#isName(1)) this.#readMod(scope.module, scopes);
      else if (text === "use" && this.#text(1) !== "<") this.#readUse(scope.module);
      else if (scope.items && ITEM.test(text)) this.#readItem(scope.module);
      else if (this.#isName()) this.#readPath(scope.module);
      else this.#at++;
    }
  }

  #text(ahead = 0) {
    return this.tokens[this.#at + ahead]?.text;
  }

  #isName(ahead = 0) {
    return /^[A-Za-z_]/.test(this.#text(ahead) ?? "");
  }

  /** The tokens before the bracket of an attribute; 0 where `#` begins none, as in `r#"…"#`. */
  #attribute() {
    if (this.#text(1) === "[") return 1;
    return this.#text(1) === "!" && this.#text(2) === "[" ? 2 : 0;
  }

  /** The paths of an attribute, as in `derive(a::B)`, and its strings that are paths. */
  #readAttribute(module) {
    this.#at += this.#attribute();
    const start = this.tokens[this.#at].at;
    for (let depth = 0; this.#at < this.tokens.length;) {
      const { text, at } = this.tokens[this.#at];
      if (this.#isName()) {
        this.#readPath(module);
        continue;
      }
      this.#at++;
      if (text === "[") depth++;
      if (text === "]" && --depth === 0) {
        for (const { 1: path, index } of this.source.slice(start, at).matchAll(PATH_IN_STRING))
          module.paths.push({ path: path.split("::"), at: start + index });
        return;
      }
    }
  }

  #readMod(module, scopes) {
    const name = this.#text(1);
    const folder = `${module.folder}/${name}`;
    if (this.#text(2) === "{") {
      const child = new Module(module.file, folder, module);
      module.children.set(name, child);
      this.modules.push(child);
      scopes.push({ module: child, items: true });
    } else {
      const file = [`${folder}.rs`, `${folder}/mod.rs`].find((path) => this.tree.exists(path));
      if (file !== undefined) module.children.set(name, this.readFile(file, folder, module));
    }
    this.#at += 3;
  }

  #readItem(module) {
    let ahead = this.#text(1) === "!" ? 2 : 1;
    while (this.#text() === "static" && this.#text(ahead) === "mut") ahead++;
    if (this.#isName(ahead) && !NO_NAME.test(this.#text(ahead))) module.items.add(this.#text(ahead));
    this.#at += NO_NAME.test(this.#text(ahead) ?? "") ? ahead : ahead + 1;
  }

  #readUse(module) {
    this.#at++;
    if (this.#text() === "::") this.#at++;
    this.#readTree(module, []);
  }

  /** One branch of a `use`: a path, then a group, a `*`, an alias or nothing. */
  #readTree(module, prefix) {
    const path = [...prefix];
    const { at } = this.tokens[this.#at] ?? { at: 0 };
    while (this.#isName()) {
      path.push(this.#text());
      this.#at++;
      if (this.#text() !== "::") break;
      this.#at++;
    }
    if (this.#text() === "*") {
      module.globs.push({ path, at });
      this.#at++;
    } else if (this.#text() === "{") {
      this.#at++;
      while (this.#at < this.tokens.length && this.#text() !== "}") {
        const before = this.#at;
        this.#readTree(module, path);
        if (this.#text() === "," || this.#at === before) this.#at++;
      }
      this.#at++;
    } else if (path.length > 0) {
      this.#addUse(module, path, at);
    }
  }

  #addUse(module, path, at) {
    if (path.at(-1) === "self") path.pop();
    let name = path.at(-1);
    if (this.#text() === "as") {
      name = this.#text(1);
      this.#at += 2;
    }
    // `as _` brings no name: it is kept under one that no path can have. So is an import of a name
    // that the module has imported already, within a function or under another `cfg`.
    module.uses.set(name === "_" || module.uses.has(name) ? `_ ${at}` : name, { path, at });
  }

  #readPath(module) {
    const { at } = this.tokens[this.#at];
    const path = [this.#text()];
    const isField = this.#text(-1) === "." || this.#text(-1) === "::";
    this.#at++;
    while (this.#text() === "::" && this.#isName(1)) {
      path.push(this.#text(1));
      this.#at += 2;
    }
    if (path.length > 1 && !isField) module.paths.push({ path, at });
  }
}
