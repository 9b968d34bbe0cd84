// Writes the matrix into docs/failing.md.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../harness/index.mjs";
import { MODES, p99 } from "./cell.mjs";

/**
 * Replaces the table between the marks of the page: `rows` of cells by mode, `all` times sorted.
 */
export async function writeMatrix(rows, all) {
  const cell = ({ passed, refused, unavailable, most }) => `${passed} / ${refused} / ${unavailable} (${most})`;
  const line = (row) => `| ${row.actor} | ${row.d1} | ${MODES.map((mode) => cell(row[mode])).join(" | ")} | ${p99(row.times)} ms |`;
  const table = [
    `| actor | D1 | ${MODES.map((mode) => `\`${mode}\``).join(" | ")} | decided, p99 |`,
    "|---|---|---|---|---|---:|",
    ...rows.map(line),
    "",
    `${all.length} requests; decided within ${p99(all)} ms at p99.`,
  ].join("\n");
  const file = join(ROOT, "docs/failing.md");
  const [head, , foot] = (await readFile(file, "utf8")).split(/<!-- matrix -->|<!-- end -->/);
  await writeFile(file, `${head}<!-- matrix -->\n\n${table}\n\n<!-- end -->${foot}`);
}
