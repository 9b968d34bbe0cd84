// Rules about files and folders: heads of folders, lengths of pages, private words.
import { cratesOf } from "./rust-imports.mjs";
import { readCrate } from "./rust-modules.mjs";
import { shippedCode } from "./rust-source.mjs";
import { blocks } from "./prose.mjs";

/** A module in a file of its own, or written out here for others. */
const MODULE = /\bmod\s+(?<file>\w+)\s*;|\bpub\s*(?:\([^)]*\)\s*)?mod\s+(?<inline>\w+)\s*\{/g;

/**
 * A file that declares modules begins with a comment that names each, in backticks or as a link.
 */
export function incompleteHeaders(tree, folders) {
  const found = [];
  for (const file of folders.flatMap((folder) => tree.files(folder, ["rs"]))) {
    const source = tree.source(file);
    const declared = [...shippedCode(source).matchAll(MODULE)];
    if (declared.length === 0) continue;
    const isHeader = source.comments[0]?.line === 1 && source.comments[0].text.startsWith("//!");
    const header = isHeader
      ? blocks(source)[0]
          .map(({ text }) => text)
          .join(" ")
      : "";
    for (const { index, groups } of declared) {
      const name = groups.file ?? groups.inline;
      if (!new RegExp(`[\`[](?:\\w+::)*${name}(?:\\.rs)?[\`\\]]`).test(header)) {
        found.push(`${file}:${source.lineOf(index)}: the header does not name \`${name}\``);
      }
    }
  }
  return found;
}

/**
 * Each Rust file of src is a module that ships, by its own name. Other rules follow `mod` alone, so
 * they would pass over a file that another takes in. Unit tests stand in tests/, or in the file that
 * they test.
 */
export function strayModules(tree) {
  const modules = cratesOf(tree).flatMap((root) => readCrate(tree, root).modules);
  const read = new Set(modules.map(({ file }) => file));
  return tree.files("src", ["rs"]).flatMap((file) => {
    const source = tree.source(file);
    const taken = [...source.code.matchAll(/\binclude\s*!|#\[\s*path\s*=|\bcfg_attr\s*\([^\]]*\bpath\s*=/g)];
    const stray = read.has(file) ? [] : [`${file}: no crate of Cargo.toml has it as a module that ships`];
    return [...stray, ...taken.map(({ index }) => source.at(index))];
  });
}

/** A page has to be there, and to be no longer than so many lines. */
export function longPage(tree, page, most) {
  const text = tree.read(page);
  if (text === undefined) return [`${page}: is missing`];
  const lines = text.replace(/\n$/, "").split("\n").length;
  return lines > most ? [`${page}:${most + 1}: it has ${lines} lines, ${most} are allowed`] : [];
}

/** A path of one machine, the number of a tracker or the host of a registry. */
const PRIVATE = new RegExp(
  [
    String.raw`(?:^|[^A-Za-z0-9_.*-])\/(?:work|root|Users|home)\/`,
    String.raw`(?:^|[^A-Za-z0-9])[A-Z]:\\{1,2}Users\\`,
    String.raw`[Ii]ssue #?[0-9]|\b[Ii]ssues?(?:\/| ?#|-)[0-9]|\bpull\/[0-9]|\bGH-[0-9]`,
    String.raw`\b(?:[Pp]ull [Rr]equest|PR|[Bb]ug|[Tt]icket)[ -]?#?[0-9]`,
    String.raw`\(#[0-9]+\)|\b(?:[Ff]ix(?:es|ed)?|[Cc]loses?|[Ss]ee) #[0-9]`,
    String.raw`(?:registry|index|static)\.[a-z]+\.(?:org|io|com)|deb\.[a-z]+\.org`,
    String.raw`py[p]i\.org|pythonhoste[d]\.org|ghc[r]\.io`,
  ].join("|"),
);

const LOCKS = /^(?:Cargo|package-lock)\.(?:lock|json)$/;

export function privateWords(tree) {
  const found = [];
  for (const file of tree.files().filter((path) => !LOCKS.test(path))) {
    const text = tree.read(file);
    if (text.includes("\0") || !new RegExp(PRIVATE, "m").test(text)) continue;
    for (const [index, line] of text.split("\n").entries()) {
      if (PRIVATE.test(line)) found.push(`${file}:${index + 1}: ${line.trim()}`);
    }
  }
  return found;
}

export function lockedHosts(tree) {
  const text = tree.read("package-lock.json");
  if (text === undefined) return ["package-lock.json: is missing"];
  const lines = text.split("\n").map((line, index) => `package-lock.json:${index + 1}: ${line.trim()}`);
  return lines.filter((line) => /"resolved": *"[a-z+]+:\/\//.test(line));
}
