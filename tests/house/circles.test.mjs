// Makes circles of imports, in a small crate and in a copy of this one.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { append, Checkout } from "./checkout.mjs";

const checkout = Checkout.copy(["src", "Cargo.toml"]);
after(() => checkout.remove());

const CRATE = {
  "Cargo.toml": '[package]\nname = "a-crate"\n[[bin]]\nname = "tool"\npath = "src/bin/tool/main.rs"\n',
  "src/lib.rs": "pub mod red;\npub mod blue;\n",
  "src/red/mod.rs": "pub mod one;\npub mod two;\npub use one::One;\npub struct Ours;\n",
  "src/red/one.rs": "pub struct One;\n",
  "src/red/two.rs": "pub struct Two;\n",
  "src/blue/mod.rs": "pub mod three;\nmod deep;\n",
  "src/blue/three.rs": "pub struct Three;\n",
  "src/blue/deep/mod.rs": "pub mod four;\n",
  "src/blue/deep/four.rs": "pub struct Four;\n",
  "src/bin/tool/main.rs": "mod part;\n",
  "src/bin/tool/part.rs": "pub struct Part;\n",
};
const crate = Checkout.of(CRATE);
after(() => crate.remove());

const [ONE, TWO, THREE] = ["src/red/one.rs", "src/red/two.rs", "src/blue/three.rs"];

test("the crate as it is has no circle", () => {
  for (const rule of ["file-circles", "folder-circles", "parent-child-circles"])
    assert.deepEqual(crate.found(rule), []);
});

// Each makes one.rs name two.rs; two.rs always names one.rs.
const WAYS = {
  "by crate": "use crate::red::two::Two;",
  "by super": "use super::two::Two;",
  "within a group": "use crate::{blue::{three::Three}, red::{self, two::{Two as Other}}};",
  "by all names": "use super::two::*;",
  "by the module": "use super::two;",
  "by a path": "fn f() { crate::red::two::Two; }",
  "by a path of super": "fn f() -> super::two::Two {}",
  "by a path below an import": "use crate::red;\nfn f() { red::two::Two; }",
  "by an import within a function": "fn f() {\n    use super::two::Two as Other;\n}",
  "from a module within the file": "mod inner {\n    use super::super::two::Two;\n}",
  "after a raw string": 'const A: &str = r#"a"#;\nuse super::two::Two;\nconst B: [u8; 1] = [0];',
  "by a function in a string of an attribute":
    '#[derive(Serialize)]\nstruct S {\n    #[serde(with = "super::two")]\n    a: u8,\n}',
  "by an attribute": "#[derive(crate::red::two::Two)]\nstruct S;",
  "by one of two imports of the same name":
    "#[cfg(windows)]\nuse super::two::Two;\n#[cfg(not(windows))]\nuse crate::blue::three::Three as Two;",
  "by one of two imports of the same name, in functions":
    "fn f() {\n    use super::two::Two;\n}\nfn g() {\n    use crate::blue::three::Three as Two;\n}",
  "after a lifetime and a character": "fn f<'a>(a: &'a str, b: ['\"'; 2]) { super::two::Two }",
};
for (const [title, lines] of Object.entries(WAYS)) {
  test(`two files name each other: ${title}`, () => {
    crate.assertBreaks(
      "file-circles",
      { [ONE]: append(lines), [TWO]: append("use super::one::One;") },
      `${ONE}:`,
    );
  });
}

test("a name that a folder passes on counts for the file that has it", () => {
  const edits = { [ONE]: append("use super::two::Two;"), [TWO]: append("use crate::red::One;") };
  crate.assertBreaks("file-circles", edits, `${ONE}:2: ${ONE}:2 → ${TWO}, ${TWO}:2 → ${ONE}`);
});

test("a name of another crate counts for the file that passes it on", () => {
  const edits = { [ONE]: append("use super::two::Two;\npub use worker::Env;") };
  crate.assertAllows("file-circles", { ...edits, [TWO]: append("use worker::Env;") });
  const both = { ...edits, [TWO]: append("use super::one::Env;") };
  crate.assertBreaks("file-circles", both, `${ONE}:2: ${ONE}:2 → ${TWO}, ${TWO}:2 → ${ONE}`);
});

test("a longer way around is told of with all its files", () => {
  const edits = {
    [ONE]: append("use super::two::Two;"),
    [TWO]: append("use crate::blue::three::Three;"),
    [THREE]: append("use crate::red::One;"),
  };
  crate.assertBreaks(
    "file-circles",
    edits,
    `${THREE}:2: ${THREE}:2 → ${ONE}, ${ONE}:2 → ${TWO}, ${TWO}:2 → ${THREE}`,
  );
});

test("comments, strings, unit tests and names of other crates are no imports", () => {
  const lines =
    '// use super::two::Two;\nconst A: &str = "super::two::Two";\n#[cfg(test)]\nmod tests { use crate::red::two::Two; }\nuse two::Two;';
  crate.assertAllows("file-circles", { [ONE]: append(lines), [TWO]: append("use super::one::One;") });
});

test("files of a tool count as well, and a tool may use the library", () => {
  const edits = {
    "src/bin/tool/main.rs": append("mod other;"),
    "src/bin/tool/other.rs": "use super::part::Part;\nuse a_crate::red::One;\n",
  };
  crate.assertAllows("file-circles", edits);
  const circle = { ...edits, "src/bin/tool/part.rs": append("use crate::other::Other;") };
  crate.assertBreaks("file-circles", circle, "src/bin/tool/other.rs:1:");
});

test("JavaScript files that import each other are told of", () => {
  const edits = {
    "bench/a.mjs": 'import { b } from "./more/b.mjs";\n',
    "bench/more/b.mjs": '// import "../a.mjs"\nexport * from "../a.mjs";\n',
  };
  crate.assertBreaks(
    "file-circles",
    edits,
    "bench/a.mjs:1: bench/a.mjs:1 → bench/more/b.mjs, bench/more/b.mjs:2 →",
  );
  crate.assertAllows("file-circles", {
    ...edits,
    "bench/more/b.mjs": '// import "../a.mjs"\nimport fs from "node:fs";\n',
  });
});

test("folders that import each other are told of, where their files do not", () => {
  const one = { [ONE]: append("use crate::blue::three::Three;") };
  crate.assertAllows("folder-circles", one);
  const both = { ...one, "src/blue/deep/four.rs": append("use crate::red::two::Two;") };
  crate.assertAllows("file-circles", both);
  crate.assertBreaks(
    "folder-circles",
    both,
    "src/blue/deep/four.rs:2: src/blue/deep/four.rs:2 → src/red/two.rs, src/red/one.rs:2 →",
  );
});

test("folders within a folder count as well, as one with the file beside them", () => {
  const edits = {
    "src/blue/mod.rs": append("mod wide;"),
    "src/blue/wide.rs": "mod inner;\n",
    "src/blue/wide/inner.rs": "use crate::blue::deep::four::Four;\n",
    "src/blue/deep/mod.rs": append("mod other;"),
  };
  crate.assertAllows("folder-circles", { ...edits, "src/blue/deep/other.rs": "" });
  const both = { ...edits, "src/blue/deep/other.rs": "use crate::blue::wide::Wide;\n" };
  crate.assertAllows("file-circles", both);
  crate.assertBreaks("folder-circles", both, "src/blue/deep/other.rs:1:");
});

test("a file that imports from its own folder's file, which imports from it, is told of apart", () => {
  const edits = { [ONE]: append("use super::Ours;") };
  crate.assertAllows("file-circles", edits);
  crate.assertBreaks("parent-child-circles", edits, `${ONE}:2: ${ONE}:2 → src/red/mod.rs`);
  crate.assertAllows("parent-child-circles", { [TWO]: append("use super::Ours;") });
});

test("a crate whose imports are not found is told of", () => {
  for (const rule of ["file-circles", "folder-circles", "parent-child-circles"]) {
    crate.assertBreaks(rule, { "src/lib.rs": null }, "src/lib.rs: no import is found");
  }
});

test("a circle in the crate of this house is told of", () => {
  const edits = {
    "src/limit/mod.rs": append("pub mod ring_a;\npub mod ring_b;"),
    "src/limit/ring_a.rs": "use crate::limit::ring_b::B;\npub struct A(B);\n",
    "src/limit/ring_b.rs": "pub struct B;\nfn f(_: super::ring_a::A) {}\n",
  };
  checkout.assertBreaks(
    "file-circles",
    edits,
    "src/limit/ring_a.rs:1: src/limit/ring_a.rs:1 → src/limit/ring_b.rs, src/limit/ring_b.rs:2",
  );
});

test("a circle of folders of this house is told of", () => {
  const edits = {
    "src/identity/mod.rs": append("fn f() { crate::policy::Policy; }"),
    "src/policy/mod.rs": append("use crate::identity::Net;"),
  };
  checkout.assertBreaks("folder-circles", edits, "src/identity/mod.rs:");
});
