// Breaks each rule about comments and sizes.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { append, Checkout, nextLine } from "./checkout.mjs";

const checkout = Checkout.copy(["src"]);
after(() => checkout.remove());

const SERVE = "src/http/serve.rs";
const MARK = "src/http/relay.js";
const next = (path, more = 0) => `${path}:${nextLine(checkout.read(path)) + more}:`;

/** A text of `columns` columns that consists of words. */
const wide = (columns, start = "") => `${start}${"word ".repeat(columns)}`.slice(0, columns - 1) + "x";

const WIDE = {
  "a comment": [SERVE, wide(101, "// ")],
  "a doc comment within code": [SERVE, wide(101, "    /// ")],
  "a comment after code": [SERVE, wide(101, "const A: u8 = 1; // ")],
  "a comment after a string with slashes": [SERVE, wide(101, 'const A: &str = "//"; // ')],
  "a comment after a character and a lifetime": [
    SERVE,
    wide(101, "fn f<'a>(a: &'a str) { a.find('\"') } // "),
  ],
  "letters beyond ASCII": [SERVE, wide(101, "// · τ “” ")],
  "a comment of JavaScript": [MARK, wide(101, "// ")],
  "a comment of JavaScript after a template and a regular expression": [
    MARK,
    wide(101, 'const a = `//${`/*`}` + /[/]"/; // '),
  ],
  "a comment of CSS": ["src/http/refusal_page/page.css", `${wide(98, "/* ")} */`],
  "a comment of HTML": ["src/http/refusal_page/page.html", `${wide(97, "<!-- ")} -->`],
};
for (const [title, [path, line]] of Object.entries(WIDE)) {
  test(`a line with a comment has at most 100 columns: ${title}`, () => {
    assert.equal([...line].length, 101);
    checkout.assertBreaks("comment-width", { [path]: append(line) }, next(path));
    const narrower = line.replace("word ", "wor ");
    assert.equal([...narrower].length, 100);
    checkout.assertAllows("comment-width", { [path]: append(narrower) });
  });
}

test("the third line of a block comment is told of by its own number", () => {
  checkout.assertBreaks(
    "comment-width",
    { [MARK]: append(`/**\n * short\n${wide(101, " * ")}\n */`) },
    next(MARK, 2),
  );
});

test("code, strings and addresses may be wide", () => {
  const lines = [
    `const A: &str = "${wide(120)}";`,
    `const B: &str = r#"// " ${wide(120)}"#;`,
    `// https://example.com/${"a".repeat(120)}`,
  ];
  checkout.assertAllows("comment-width", { [SERVE]: append(lines.join("\n")) });
});

const OPENINGS = {
  "a comment": [SERVE, "// What it is.", 0],
  "a doc comment": [SERVE, "/// Whoever asks.", 0],
  "a comment after code": [SERVE, "const A: u8 = 1; // whose it is", 0],
  "a new block after code": [SERVE, "// One.\nconst A: u8 = 1;\n// Those.", 2],
  "a paragraph": [SERVE, "/// One.\n///\n/// None of it.", 2],
  "an item of a list": [SERVE, "/// One:\n/// - what it is", 1],
  "a numbered item": [SERVE, "/// One:\n/// 2. **Who** it is", 1],
  "a heading": [SERVE, "/// One.\n/// # Who", 1],
  "a quotation": [SERVE, "/// > What it is.", 0],
  "a line of dashes": [SERVE, "// ---- What it is ----", 0],
  "the line after an example": [SERVE, "/// One.\n/// ```\n/// a();\n/// ```\n/// What it is.", 4],
  "the line after a heading": [SERVE, "/// # One\n/// Whom it serves", 1],
  "a block comment": [MARK, "/** Whose it is. */", 0],
  "a paragraph of a block comment": [MARK, "/**\n * One.\n *\n * Whom it is for.\n */", 3],
};
for (const [title, [path, lines, more]] of Object.entries(OPENINGS)) {
  test(`comments do not open with a riddle: ${title}`, () => {
    checkout.assertBreaks("comment-openings", { [path]: append(lines) }, next(path, more));
  });
}

test("such words may go on a sentence, and open one in code or as code", () => {
  const lines =
    '/// The caller knows\n/// what it is. What not?\n/// ```\n/// // Who\n/// what();\n/// ```\n\n/// `None` where it is empty.\nconst A: &str = "// What";';
  checkout.assertAllows("comment-openings", { [SERVE]: append(lines) });
});

/** Checks a checkout of the given files alone. */
function alone(files, work) {
  const small = Checkout.of(files);
  try {
    work(small);
  } finally {
    small.remove();
  }
}

test("one word in a hundred may be a riddle", () => {
  const words = (count) => `// ${"word ".repeat(count)}\n`;
  alone(
    { "src/a.rs": `${words(99)}// those\n`, "src/b/c.js": `${words(98)}/* \`what\` whoever */\n` },
    (small) => {
      assert.deepEqual(small.found("riddles"), []);
      small.assertBreaks(
        "riddles",
        { "src/a.rs": append("// Not what it was.") },
        "src: 1.47 in 100 words (3 in 204)",
      );
      small.assertBreaks(
        "riddles",
        { "src/d.css": "/* none\nof whom */" },
        "src: 1.97 in 100 words (4 in 203)",
      );
    },
  );
  alone({ "src/a.rs": 'const A: &str = "what who";\n' }, (small) => {
    assert.deepEqual(small.found("riddles"), ["src: has no comments, so this rule reads nothing"]);
  });
});

test("a file has at most 300 lines", () => {
  checkout.assertAllows("file-length", { "src/limit/new.rs": "// line\n".repeat(300) });
  checkout.assertBreaks(
    "file-length",
    { "src/limit/new.rs": "// line\n".repeat(301) },
    "src/limit/new.rs:301:",
  );
  for (const type of ["js", "mjs", "css", "html"]) {
    const path = `src/new.${type}`;
    checkout.assertBreaks("file-length", { [path]: "/* line */\n".repeat(301) }, `${path}:301:`);
  }
});

test("half of the files have at most 130 lines", () => {
  alone(
    { "src/a.rs": "\n".repeat(130), "src/b.js": "\n".repeat(130), "src/c.rs": "\n".repeat(300) },
    (small) => {
      assert.deepEqual(small.found("median-length"), []);
      small.assertBreaks("median-length", { "src/d.rs": "\n".repeat(140) }, "src: the median is 135");
    },
  );
});

const body = (lines, line = "    a();") => `${line}\n`.repeat(lines - 2);

const LONG = {
  "a function": [SERVE, `pub async fn long_one() {\n${body(71)}}`],
  "a method with a long head": [
    SERVE,
    `impl A {\nfn long_one(\n    a: [u8; 4],\n) -> u8 {\n${body(69)}}\n}`,
    1,
  ],
  "a function with braces in strings": [
    SERVE,
    `fn long_one() {\n${body(71, `    a("}", '}', r#"}"}"#, b'\\'', '\\u{7d}'); // }`)}}`,
  ],
  "a macro": [SERVE, `macro_rules! long_one {\n    () => {\n${body(69)}    };\n}`],
  "a function of JavaScript": [MARK, `async function long_one(a, { b }) {\n${body(71)}}`],
  "a method of JavaScript": [MARK, `class A {\n  long_one(a = f(1)) {\n${body(71)}  }\n}`, 1],
  "an arrow of JavaScript to an object": [
    MARK,
    `const long_one = (a) => ({\n${body(71, "  a: b(`}${c}}`),")}});`,
  ],
  "an arrow of JavaScript to a call": [MARK, `const long_one = (a) =>\n  a(\n${body(70, "  b,")}  );`],
  "an arrow of JavaScript": [MARK, `const long_one = (a) => {\n${body(71, "  if (a) { b(`}${c}}`); }")}};`],
};
for (const [title, [path, lines, more = 0]] of Object.entries(LONG)) {
  test(`a function has at most 70 lines: ${title}`, () => {
    checkout.assertBreaks("function-length", { [path]: append(lines) }, next(path, more));
    const shorter = lines
      .split("\n")
      .toSpliced(more + 5, 1)
      .join("\n");
    checkout.assertAllows("function-length", { [path]: append(shorter) });
  });
}

test("JavaScript under its other extension counts as well", () => {
  const path = "src/http/new.mjs";
  const edits = { [path]: `${wide(101, "// What ")}\nfunction long_one() {\n${body(71)}}\n` };
  checkout.assertBreaks("comment-width", edits, `${path}:1:`);
  checkout.assertBreaks("comment-openings", edits, `${path}:1:`);
  checkout.assertBreaks("function-length", edits, `${path}:2:`);
});

test("what is no function may be long", () => {
  checkout.assertAllows("function-length", {
    [SERVE]: append(`trait A {\n    fn a();\n${body(80)}}\ntype F = fn(u8);\nconst A: B = {\n${body(80)}};`),
  });
  checkout.assertAllows("function-length", {
    [MARK]: append(`if (a) {\n${body(80)}}\nfor (const a of b(c)) {\n${body(80)}}`),
  });
});
