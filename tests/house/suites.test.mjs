// Breaks the rule about test suites: takes tests away from their runners, in each way.
import { after, test } from "node:test";
import { append, Checkout } from "./checkout.mjs";

const checkout = Checkout.copy(["src", "tests", "scripts", "bench", "Cargo.toml", ".gitignore"]);
after(() => checkout.remove());

const RUN = "scripts/test.sh";
const NATIVE = "tests/native/gate/decide.rs";

for (const suite of ["native", "wasm", "edge", "house"]) {
  test(`a suite that is gone, empty or not run is told of: ${suite}`, () => {
    const folder = `tests/${suite}`;
    checkout.assertBreaks("suites", { [folder]: null }, `${folder}: holds no test`);
    const notRun = (text) =>
      text
        .split("\n")
        .map((line) => (line.includes(folder) ? `# ${line}` : line))
        .join("\n");
    checkout.assertBreaks("suites", { "scripts/test.sh": notRun }, `scripts/test.sh: does not run ${folder}`);
  });
}

test("a suite without any test is told of", () => {
  const edits = { "tests/wasm": null };
  checkout.assertBreaks(
    "suites",
    { ...edits, "tests/wasm/main.rs": "fn main() {}\n// #[test]\n" },
    "tests/wasm: holds no test",
  );
});

test("tests that no suite runs are told of", () => {
  checkout.assertBreaks("suites", { "tests/other/main.rs": "#[test]\nfn f() {}\n" }, "tests/other/main.rs:");
  checkout.assertBreaks("suites", { "tests/other/a.test.mjs": "" }, "tests/other/a.test.mjs:");
});

/** An edit of each line that holds `part`. */
function lines(part, edit) {
  return (text) =>
    text
      .split("\n")
      .flatMap((line) => (line.includes(part) ? edit(line) : [line]))
      .join("\n");
}

for (const suite of ["native", "wasm", "edge", "house"]) {
  test(`a suite that no runner of scripts/test.sh names is told of: ${suite}`, () => {
    const place = `scripts/test.sh: does not run tests/${suite}`;
    const ways = [
      () => [],
      (line) => [`# ${line}`],
      (line) => [line.replace("runner", "step")],
      (line) => [`[ -n "$QUICK" ] || ${line}`],
    ];
    const start = (line) => line.startsWith("runner ");
    for (const way of ways) {
      const edit = lines(` ${suite}_tests`, (line) => (start(line) ? way(line) : [line]));
      checkout.assertBreaks("suites", { [RUN]: edit }, place);
    }
  });
}

test("a check that scripts/test.sh does not run is told of", () => {
  for (const step of ["scripts/clippy.sh", "node scripts/invariants.mjs"]) {
    const place = `scripts/test.sh: has no step \`${step}\``;
    checkout.assertBreaks("suites", { [RUN]: lines(step, (line) => [`# ${line}`]) }, place);
  }
});

test("a runner that is told to leave out tests, or to pass in any case, is told of", () => {
  for (const [was, is] of [
    ["cargo test --quiet", "cargo test --quiet --lib"],
    ["cargo test --quiet", "cargo test --quiet -- --skip model"],
    ["cargo test --quiet", "cargo test --quiet || true"],
  ]) {
    const place = "scripts/test.sh: leaves out tests of tests/native";
    checkout.assertBreaks("suites", { [RUN]: (text) => text.replace(was, is) }, place);
  }
  const one = (text) => text.replace("--test-concurrency=2", "--test-name-pattern=GCR-05");
  checkout.assertBreaks("suites", { [RUN]: one }, "scripts/test.sh: leaves out tests of tests/edge");
});

test("a file of tests that no module declares is told of", () => {
  for (const suite of ["native", "wasm"]) {
    const path = `tests/${suite}/stray.rs`;
    checkout.assertBreaks("suites", { [path]: "#[test]\nfn f() {}\n" }, `${path}: no crate has it`);
  }
  const without = (text) => text.replace("mod decide;", "");
  checkout.assertBreaks("suites", { "tests/native/gate/mod.rs": without }, `${NATIVE}: no crate has it`);
});

test("a test that is not for wasm is told of in the suite of wasm", () => {
  const path = "tests/wasm/http/proxy.rs";
  checkout.assertBreaks("suites", { [path]: append("#[test]\nfn stranger() {}") }, `${path}:`);
});

test("a file of tests by a name that its runner does not look for is told of", () => {
  const text = 'import { test } from "node:test";\ntest("a", () => {});\n';
  for (const path of [
    "tests/house/new.test.js",
    "tests/edge/new.spec.mjs",
    "tests/edge/test-new.mjs",
    "bench/new.test.mjs",
    "src/http/new.test.mjs",
  ]) {
    checkout.assertBreaks("suites", { [path]: text }, `${path}:`);
  }
});

const LEFT_OUT_IN_RUST = ["#[ignore]", '#[ignore = "slow"]', "#[cfg_attr(miri, ignore)]", "#[cfg(any())]"];
for (const attribute of LEFT_OUT_IN_RUST) {
  test(`a test in Rust that is left out is told of: ${attribute}`, () => {
    const edit = append(`#[test]\n${attribute}\nfn f() {}`);
    checkout.assertBreaks("suites", { [NATIVE]: edit }, `${NATIVE}:`);
  });
}

// The first line imports the runner, the second is told of.
const LEFT_OUT_IN_JAVASCRIPT = [
  'test.skip("a", () => {});',
  'test.todo("a");',
  'test.only("a", () => {});',
  'describe.skip("a", () => {});',
  'test("a", { skip: true }, () => {});',
  'test("a", { timeout: 1, todo: "later" }, async () => {});',
  "test(`a ${b} c`, { skip: !browser }, () => {});",
  'test("a", (t) => t.skip("no browser"));',
];
for (const line of LEFT_OUT_IN_JAVASCRIPT) {
  test(`a test in JavaScript that is left out is told of: ${line}`, () => {
    const path = "tests/edge/new.test.mjs";
    checkout.assertBreaks("suites", { [path]: `import { test } from "node:test";\n${line}\n` }, `${path}:2:`);
  });
}

test("tests may speak of skipping", () => {
  checkout.assertAllows("suites", {
    "tests/edge/new.test.mjs":
      '// test.skip\ntest("test.skip()", { timeout: 1 }, async () => {\n  await edge.trip(kind, { skip: 1 });\n  for (const skip of [0]) told([], { skip });\n});\n',
    [NATIVE]: append("// #[ignore]\nfn f() { ignore(skip) }"),
  });
});
