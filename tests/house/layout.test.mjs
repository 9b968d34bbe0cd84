// Breaks each rule of scripts/invariants/layout.mjs, and the rule about fault ids.
import { after, test } from "node:test";
import { append, Checkout, nextLine } from "./checkout.mjs";

const checkout = Checkout.copy();
after(() => checkout.remove());

const next = (path) => `${path}:${nextLine(checkout.read(path))}:`;

// The words that no file may hold are put together here, or this file would hold them.
const PRIVATE = {
  "a path of someone's machine": ["see /ro", "ot/notes"],
  "someone's home": ["see /ho", "me/ann/notes"],
  "someone's home on Windows": ["see C:\\Us", "ers\\ann"],
  "a tracker's number": ["see iss", "ue #12"],
  "an address in a tracker": ["see https://example.com/a/b/iss", "ues/12"],
  "a number that a change mends": ["fixes #", "12"],
  "a number of a change": ["see pull requ", "est 12"],
  "a registry's host": ["from https://reg", "istry.npmjs.org/x"],
};
for (const [title, parts] of Object.entries(PRIVATE)) {
  test(`no file names what means nothing to a reader: ${title}`, () => {
    const line = parts.join("");
    checkout.assertBreaks(
      "private-words",
      { "docs/new-page.md": `a page\n${line}\n` },
      "docs/new-page.md:2:",
    );
    checkout.assertBreaks(
      "private-words",
      { "src/http/serve.rs": append(`// ${line}`) },
      next("src/http/serve.rs"),
    );
  });
}

test("words that are also those of trackers may be used of other things", () => {
  const text = "The actor issues 12 permits, which the isolates pull 3 at a time. /* #123 */ a(#fff)\n";
  checkout.assertAllows("private-words", { "docs/new-page.md": text });
});

test("what git ignores is not read", () => {
  checkout.assertAllows("private-words", {
    "target/log.md": PRIVATE["a path of someone's machine"].join(""),
  });
});

test("the lock file names no registry", () => {
  const line = `  "resolved": "https://example.com/x.tgz",`;
  checkout.assertBreaks(
    "locked-hosts",
    { "package-lock.json": (text) => text.replace("{\n", `{\n${line}\n`) },
    "package-lock.json:2:",
  );
  const git = line.replace("https", "git+ssh");
  checkout.assertBreaks(
    "locked-hosts",
    { "package-lock.json": (text) => text.replace("{\n", `{\n${git}\n`) },
    "package-lock.json:2:",
  );
  checkout.assertBreaks("locked-hosts", { "package-lock.json": null }, "package-lock.json: is missing");
});

test("the pages are there and short", () => {
  const lines = "line\n".repeat(161);
  checkout.assertBreaks(
    "architecture-length",
    { "ARCHITECTURE.md": lines },
    "ARCHITECTURE.md:121: it has 161 lines",
  );
  checkout.assertBreaks("architecture-length", { "ARCHITECTURE.md": null }, "ARCHITECTURE.md: is missing");
  checkout.assertBreaks("readme-length", { "README.md": lines }, "README.md:161: it has 161 lines");
  checkout.assertBreaks("readme-length", { "README.md": null }, "README.md: is missing");
});

test("a fault that has no row is told of", () => {
  const name = ["zz", "97", "is_unknown"].join("_");
  const edits = { "tests/native/new.rs": `#[test]\nfn ${name}() {}\n` };
  checkout.assertBreaks("fault-ids", edits, "tests/native/new.rs:2:");
});

test("a fault that only a comment names is told of", () => {
  const [id, name] = [["ZZ", "97"].join("-"), ["zz", "97"].join("_")];
  const page = checkout.read("docs/faults.md").trimEnd();
  const row = { "docs/faults.md": `${page}\n\n| ${id} | a | b | c |\n` };
  const place = `docs/faults.md:${page.split("\n").length + 2}: no test uses ${id}`;
  const rust = (text) => ({ ...row, "tests/native/new.rs": text });
  const script = (text) => ({ ...row, "tests/edge/new.test.mjs": text });
  checkout.assertBreaks("fault-ids", rust(`// ${id}\n// #[test]\n// fn ${name}_is_gone() {}\n`), place);
  checkout.assertBreaks("fault-ids", script(`/* test("${id}: is gone"); */\n`), place);
  checkout.assertAllows("fault-ids", rust(`#[test]\nfn ${name}_is_there() {}\n`));
  checkout.assertAllows("fault-ids", script(`test("${id}: is there", () => {});\n`));
});

test("a file of src that is no module, or that another takes in, is told of", () => {
  const stray = { "src/limit/stray.rs": "pub fn f() {}\n" };
  checkout.assertBreaks("modules", stray, "src/limit/stray.rs: no crate");
  checkout.assertAllows("modules", { ...stray, "src/limit/mod.rs": append("mod stray;") });
  checkout.assertBreaks("modules", { "src/bin/new/main.rs": "fn main() {}\n" }, "src/bin/new/main.rs: no crate");
  const path = "src/limit/mod.rs";
  for (const line of [
    'include!("../http/serve.rs");',
    '#[path = "../http/serve.rs"]\nmod serve;',
    '#[cfg_attr(windows, path = "../http/serve.rs")]\nmod serve;',
  ]) {
    checkout.assertBreaks("modules", { [path]: append(line) }, next(path));
  }
  checkout.assertAllows("modules", { [path]: append('// include!("a.rs")\nconst A: &str = include_str!("a");') });
});

test("the head of a folder names its modules", () => {
  const path = "src/limit/mod.rs";
  checkout.assertBreaks("folder-headers", { [path]: append("pub mod stranger;") }, next(path));
  const inline = append("pub(crate) mod stranger {\n    pub fn f() {}\n}\nmod own {}");
  checkout.assertBreaks("folder-headers", { [path]: inline }, next(path));
  checkout.assertAllows("folder-headers", {
    "src/limit/inner/mod.rs": "//! - [`a`], [`b`](self::b), `c.rs`\nmod a;\nmod b;\nmod c;\n",
  });
  checkout.assertBreaks(
    "folder-headers",
    { "src/limit/inner/mod.rs": "// `a`\nmod a;\n" },
    "src/limit/inner/mod.rs:2:",
  );
});
