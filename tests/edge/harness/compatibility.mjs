// The version of the runtime's behaviour that the Worker is written for.
import { readFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * `compatibility_date` and `compatibility_flags` in the wrangler.toml of `root`, for the runtime.
 */
export async function compatibility(root) {
  const text = await readFile(join(root, "wrangler.toml"), "utf8");
  const [, compatibilityDate] = /^compatibility_date *= *"(.+)"/m.exec(text);
  const [, flags] = /^compatibility_flags *= *(\[.*?\])/m.exec(text);
  return { compatibilityDate, compatibilityFlags: JSON.parse(flags) };
}
