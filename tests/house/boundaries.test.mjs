// Breaks each rule of scripts/invariants/boundaries.mjs.
import { after, test } from "node:test";
import { append, Checkout, nextLine } from "./checkout.mjs";

const checkout = Checkout.copy(["src", "Cargo.toml", "clippy.toml"]);
after(() => checkout.remove());

const PLAN = "src/gate/plan.rs";
const CLOCK = "src/runtime/clock.rs";
const ON_ERROR = "src/gate/on_error.rs";
const next = (path) => `${path}:${nextLine(checkout.read(path))}:`;

test("a pure module that is gone is told of", () => {
  checkout.assertBreaks("pure", { "src/gate": null }, "src/gate: listed as PURE");
});

test("a pure folder under another name is told of, wherever it is declared", () => {
  const rename = (text) => text.replace("pub mod gate;", "pub mod gates;");
  const edits = { "src/lib.rs": rename, "src/gate": null, "src/gates/mod.rs": "use worker::Env;\n" };
  checkout.assertBreaks("pure", edits, "src/lib.rs: module gates is in 0 of the lists");
  checkout.assertBreaks(
    "pure",
    { "src/lib.rs": rename },
    "src/lib.rs: module gate is listed as PURE, but not declared",
  );
});

test("a module of no list is told of", () => {
  const edits = { "src/lib.rs": append("mod stranger;"), "src/stranger.rs": "fn f() {}\n" };
  checkout.assertBreaks("pure", edits, "src/lib.rs: module stranger");
});

const IMPURE_LINES = {
  "an import of worker": "use worker::Env;",
  "an import of js_sys under another name": "use js_sys as js;",
  "an import within a group": "use {core::fmt, web_sys::Url};",
  "an import of another crate that comes with the Worker": "use cf_colo_hint::Colo;",
  "a path": "fn f() -> bool { wasm_bindgen::JsValue::NULL.is_null() }",
  "a macro": 'fn f() { worker::console_log!("x") }',
  "a module that may name the runtime": "use crate::runtime::clock;",
  "a path into a module that may": "fn f() { crate::http::serve::serve() }",
};
for (const [title, line] of Object.entries(IMPURE_LINES)) {
  test(`a pure module does not name the runtime: ${title}`, () => {
    checkout.assertBreaks("pure", { [PLAN]: append(line) }, next(PLAN));
  });
}

test("a pure module does not name the runtime: a name that another module passes on", () => {
  for (const [path, line] of [
    ["src/runtime/mod.rs", "use crate::runtime::Env;"],
    ["src/lib.rs", "fn f(_: crate::Env) {}"],
  ]) {
    const edits = { [path]: append("pub use worker::Env;"), [PLAN]: append(line) };
    checkout.assertBreaks("pure", edits, next(PLAN));
  }
});

test("a pure module may speak of the runtime in comments and strings, and have fields of such names", () => {
  const lines =
    '// use worker::Env;\n/* use worker::Env; */\nconst TEXT: &str = "use worker::Env;";\nfn f(a: A) { g(a.worker, a.worker::<u8>()) }';
  checkout.assertAllows("pure", { [PLAN]: append(lines) });
});

test("a clock is read in one file", () => {
  checkout.assertBreaks("clock", { [PLAN]: append("fn f() { std::time::Instant::now(); }") }, next(PLAN));
  checkout.assertBreaks("clock", { [PLAN]: append("use std::time::SystemTime;") }, next(PLAN));
  checkout.assertBreaks(
    "clock",
    { "src/http/serve.rs": append("use js_sys::Date;") },
    next("src/http/serve.rs"),
  );
});

const READS = {
  "a clock of another crate": "fn f() { chrono::Utc::now() }",
  "the time since 1970": "fn f() { std::time::UNIX_EPOCH.elapsed() }",
  "a function of JavaScript":
    '#[wasm_bindgen]\nextern "C" {\n    #[wasm_bindgen(js_namespace = Date)]\n    fn now() -> f64;\n}',
};
for (const [title, lines] of Object.entries(READS)) {
  test(`a clock is read in one file: ${title}`, () => {
    const path = "src/http/serve.rs";
    const line = nextLine(checkout.read(path)) + (lines.includes("\n") ? 2 : 0);
    checkout.assertBreaks("clock", { [path]: append(lines) }, `${path}:${line}:`);
  });
}

test("a clock is read in few scripts", () => {
  const path = "src/http/relay.js";
  for (const line of ["a(Date.now());", "a(performance.now());", "a(new Date());"]) {
    checkout.assertBreaks("clock", { [path]: append(line) }, next(path));
  }
  checkout.assertAllows("clock", { [path]: append("// Date.now()\na(new Date(0), 'performance.now()');") });
  checkout.assertBreaks("clock", { "src/entry.js": "a();\n" }, "src/entry.js: reads no clock");
});

test("no other file is excused from the lint against clocks, which is there", () => {
  checkout.assertBreaks(
    "clock",
    { [PLAN]: append("#[expect(clippy::disallowed_methods)]\nfn f() {}") },
    next(PLAN),
  );
  checkout.assertBreaks("clock", { [PLAN]: append("#[allow(clippy::style)]\nfn f() {}") }, next(PLAN));
  checkout.assertBreaks(
    "clock",
    { "clippy.toml": (text) => text.replace("SystemTime::now", "") },
    "clippy.toml: SystemTime::now",
  );
});

test("the clock's file has to be there and to read a clock", () => {
  checkout.assertBreaks("clock", { [CLOCK]: null }, `${CLOCK}: reads no clock`);
  checkout.assertBreaks("clock", { [CLOCK]: "// Date::now()\n" }, `${CLOCK}: reads no clock`);
});

test("code that ships is not excused from the lints against panics", () => {
  for (const lint of ["clippy::unwrap_used", "clippy::indexing_slicing", "clippy::restriction", "warnings"]) {
    checkout.assertBreaks("panic-lints", { [PLAN]: append(`#[allow(${lint})]\nfn f() {}`) }, next(PLAN));
  }
  for (const excuse of ["allow(dead_code, warnings)", "expect(warnings)"]) {
    checkout.assertBreaks("panic-lints", { [PLAN]: append(`#[${excuse}]\nfn f() {}`) }, next(PLAN));
  }
  const after = "#[cfg(test)]\nfn only_in_tests() {}\n";
  const line = nextLine(checkout.read(PLAN)) + 2;
  checkout.assertBreaks(
    "panic-lints",
    { [PLAN]: append(`${after}#[allow(clippy::panic)]\nfn f() {}`) },
    `${PLAN}:${line}:`,
  );
});

const TESTED = {
  "a field": "struct S {\n    #[cfg(test)]\n    pub(crate) a: Vec<u8>,\n}",
  "the last field": "struct S {\n    #[cfg(test)]\n    #[serde(skip)]\n    a: u8\n}",
  "a field named like an item": "struct S {\n    #[cfg(test)]\n    r#mod: u8,\n}",
  "a variant": "enum E {\n    #[cfg(test)]\n    A(u8),\n}",
  "an arm": "fn g() -> u8 {\n    match 1 {\n        #[cfg(test)]\n        1 => 2,\n        _ => 3\n    }\n}",
  "an argument": "fn g(#[cfg(test)] a: u8) {}",
};
for (const [title, lines] of Object.entries(TESTED)) {
  test(`code after ${title} of unit tests is not excused from the lints against panics`, () => {
    const line = nextLine(checkout.read(PLAN)) + lines.split("\n").length;
    checkout.assertBreaks(
      "panic-lints",
      { [PLAN]: append(`${lines}\n#[allow(clippy::panic)]\nfn f() {}`) },
      `${PLAN}:${line}:`,
    );
  });
}

test("unit tests may be excused from the lints against panics", () => {
  checkout.assertAllows("panic-lints", {
    [PLAN]: append("#[cfg(test)]\nmod tests {\n    #[allow(clippy::unwrap_used)]\n    fn f() {}\n}"),
  });
  checkout.assertAllows("panic-lints", {
    [PLAN]: append(
      "#[cfg(test)]\n#[allow(clippy::unwrap_used)]\npub fn f<A, B>(a: A, b: B)\nwhere\n    A: C,\n{\n    #[allow(clippy::panic)]\n    g()\n}",
    ),
  });
});

test("the lints against panics are on", () => {
  checkout.assertBreaks(
    "panic-lints",
    { "clippy.toml": append('arithmetic-side-effects-allowed = ["u64"]') },
    "clippy.toml: excuses",
  );
  checkout.assertBreaks(
    "panic-lints",
    { "Cargo.toml": (text) => text.replace(/^panic = .*$/m, "") },
    "Cargo.toml: panic ",
  );
  checkout.assertBreaks(
    "panic-lints",
    { "Cargo.toml": (text) => text.replace(/^todo = .*$/m, 'todo = "allow"') },
    "Cargo.toml: todo ",
  );
});

const DECISIONS = {
  "a second match":
    "fn f(e: OnError) -> u8 {\n    match e { OnError::Local => 0, OnError::Open => 1, OnError::Closed => 2 }\n}",
  "a comparison":
    "fn f(e: OnError) -> bool {\n    if e == crate::policy::OnError::Closed { true } else { false }\n}",
  "matches!": "fn f(e: OnError) -> bool {\n    matches!(e, OnError::Open | OnError::Local)\n}",
  "an import of all choices": "fn f() {}\nuse crate::policy::OnError::*;",
  "an import of one choice in a group": "fn f() {}\nuse crate::policy::{Mode, OnError::{Closed}};",
  "the type under another name": "fn f() {}\nuse crate::policy::OnError as E;",
  "an alias of the type": "fn f() {}\ntype E = crate::policy::OnError;",
  "a comparison of two values": "fn f(a: &Limit, b: &Limit) -> bool {\n    a.on_error == b.on_error\n}",
  "a cast": "fn f(limit: &Limit) -> bool {\n    limit.on_error as u8 == 0\n}",
  "a comparison of its name": 'fn f(limit: &Limit) -> bool {\n    limit.on_error.to_string() == "open"\n}',
  "Self in an impl of the type": "impl OnError {\n    fn f(self) -> bool { matches!(self, Self::Closed) }\n}",
  "Self in an impl of a trait":
    "impl Ask for crate::policy::OnError {\n    fn f(self) -> bool { self == Self::Open }\n}",
};
for (const [title, lines] of Object.entries(DECISIONS)) {
  test(`on_error is decided in one file: ${title}`, () => {
    const place = `${PLAN}:${nextLine(checkout.read(PLAN)) + 1}:`;
    checkout.assertBreaks("on-error", { [PLAN]: append(lines) }, place);
  });
}

test("on_error is decided in one file: a question that its own module answers", () => {
  const path = "src/policy/limit.rs";
  const line = nextLine(checkout.read(path)) + 1;
  const edits = {
    [path]: append("impl OnError {\n    pub fn is_open(self) -> bool { self == Self::Open }\n}"),
    [PLAN]: append("fn f(limit: &Limit) -> bool { limit.on_error.is_open() }"),
  };
  checkout.assertBreaks("on-error", edits, `${path}:${line}:`);
  checkout.assertBreaks("on-error", edits, next(PLAN));
});

test("the choices of on_error may stand in comments, unit tests and policy; Self of another type is no choice", () => {
  const lines =
    "// OnError::Closed\n#[cfg(test)]\nmod tests { fn f() { OnError::Closed; } }\nimpl Breaker { fn f() { Self::Open; } }";
  checkout.assertAllows("on-error", {
    [PLAN]: append(lines),
    "src/policy/mod.rs": append("fn f() { OnError::Closed; }"),
  });
});

test("the file that decides on_error has to decide all choices", () => {
  checkout.assertBreaks("on-error", { [ON_ERROR]: null }, `${ON_ERROR}: does not decide OnError::Local`);
  const without = (text) => text.replaceAll("OnError::Open", "_");
  checkout.assertBreaks("on-error", { [ON_ERROR]: without }, `${ON_ERROR}: does not decide OnError::Open`);
  const renamed = (text) => text.replace("enum OnError", "enum Otherwise");
  checkout.assertBreaks("on-error", { "src/policy/limit.rs": renamed }, "src: there is no `enum OnError`");
});
