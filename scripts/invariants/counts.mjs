// The rule that a sentence with a count is right for one as well: `1 request`, not `1 requests`.
import { scanRust } from "./rust-source.mjs";
import { blank } from "./source.mjs";

/** The nouns that are counted in texts, in the plural. */
const NOUNS = [
  ...["requests", "callers", "clients", "addresses", "networks", "keys", "routes", "limits", "rates", "caps", "bindings"],
  ...["tokens", "places", "permits", "slots", "leases", "buckets", "calls", "rows", "objects", "isolates", "actors"],
  ...["seconds", "minutes", "hours", "days", "weeks", "months", "years", "times", "bytes", "characters", "lines"],
  ...["faults", "warnings", "errors", "questions", "demands", "outcomes", "grants", "refusals", "sockets", "WebSockets"],
];

/** A placeholder, at most one word that is no verb, and such a noun. The value of a name in capitals is known to the text. */
const UNCOUNTED = new RegExp(`\\{[a-z_0-9.]*(?::[^}]*)?\\}(?:(?:\\s|\\\\\\n)+[a-z]*[a-rt-z])?(?:\\s|\\\\\\n)+(?:${NOUNS.join("|")})\\b`, "g");

/** The texts of src in which a placeholder stands before a noun in the plural. */
export function uncounted(tree) {
  const found = [];
  for (const file of tree.files("src", ["rs"])) {
    const source = tree.source(file);
    const texts = blank(source.text, scanRust(source.text).comments);
    for (const { index } of texts.matchAll(UNCOUNTED)) found.push(source.at(index));
  }
  return [...new Set(found)];
}
