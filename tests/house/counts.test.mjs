// Breaks the rule of scripts/invariants/counts.mjs.
import { after, test } from "node:test";
import { append, Checkout, nextLine } from "./checkout.mjs";

const checkout = Checkout.copy(["src"]);
after(() => checkout.remove());

const PATH = "src/http/problem_detail.rs";
const next = `${PATH}:${nextLine(checkout.read(PATH))}:`;

for (const [title, text] of Object.entries({
  "a name": 'format!("{most} requests at once")',
  "a value": 'format!("in {} seconds", wait)',
  "a form": 'format!("{count:>3} faults")',
  "a word between": 'format!("{count} open WebSockets")',
  "a text on two lines": 'format!("there are {count} \\\n    rows")',
})) {
  test(`WRD-10: a count that would be wrong for one is told of: ${title}`, () => {
    checkout.assertBreaks("counts", { [PATH]: append(`fn f() -> String { ${text} }`) }, next);
  });
}

test("WRD-10: other texts stay as they are", () => {
  const texts = [
    '// {count} requests',
    'const A: &str = "1,000 requests, at most {MAX} bytes";',
    'fn f() -> String { format!("{name} counts keys alone; {} allows {}", counted(1, "request"), 1) }',
  ];
  checkout.assertAllows("counts", { [PATH]: append(texts.join("\n")) });
});
