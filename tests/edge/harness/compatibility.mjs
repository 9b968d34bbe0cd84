// Which behaviour of the runtime the Worker is written for, as wrangler.toml says it.
import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** `compatibility_date` and `compatibility_flags` of the project in `root`, as the runtime wants them. */
export async function compatibility(root) {
  const text = await readFile(join(root, "wrangler.toml"), "utf8");
  const [, compatibilityDate] = /^compatibility_date *= *"(.+)"/m.exec(text);
  const [, flags] = /^compatibility_flags *= *(\[.*?\])/m.exec(text);
  return { compatibilityDate, compatibilityFlags: JSON.parse(flags) };
}
