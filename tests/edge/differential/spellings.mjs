// Spellings that an attacker tries in order to get around a limit: a plain request, twisted a few
// times.

const PLAIN = [
  ["GET", "/login"],
  ["GET", "/login"],
  ["POST", "/login"],
  ["GET", "/v1/items"],
  ["GET", "/v1/items/7"],
  ["GET", "/v1/items/mine"],
  ["GET", "/v1/items/@new"],
  ["DELETE", "/v1/items/7"],
  ["GET", "/files/a/b"],
  ["GET", "/files/private/x"],
  ["GET", "/files/private%2Fx"],
  ["GET", "/~me/wow!/a@b,c"],
  ["GET", "/m;v=1/x"],
  ["GET", "/caf%C3%A9"],
  ["GET", "/"],
  ["GET", "/tool", "admin.example"],
];

const hex = (random, code) => {
  const digits = code.toString(16).padStart(2, "0");
  return `%${random.below(2) ? digits : digits.toUpperCase()}`;
};

/** `text` with `make(match)` in place of one of `pattern`'s matches. */
function one(random, text, pattern, make) {
  const found = [...text.matchAll(pattern)];
  if (found.length === 0) return text;
  const { 0: match, index } = random.pick(found);
  return text.slice(0, index) + make(match) + text.slice(index + match.length);
}

const anywhere = (random, text, piece) => {
  const at = 1 + random.below(text.length);
  return text.slice(0, at) + piece + text.slice(at);
};

const PIECES = [
  ...["%00", "%", "%zz", "%2", "%u006c", "%c0%af", "%e0%80%af", "%c0%ae", "%ff", "%0a", "%0d", "%09", "%20", "+", "\x01", "\xe9", "\xef\xbc\x8f"],
  ...[";", ";x=1", ";/", ",", "!", "%21", "%3b", "%3f", "%23", "%26", "*", "'", "(", ")", "|", "^", "{", "}", "[", "]", '"', "<", "`", "~", ".", ".."],
];

/** Other spellings of a path, some of which are other paths. */
const TWISTS = [
  (path, random) => one(random, path, /[^/%]/g, (letter) => hex(random, letter.charCodeAt(0))),
  (path, random) => one(random, path, /[^/%]/g, (letter) => hex(random, letter.charCodeAt(0))),
  (path, random) => path.replace(/[a-z!@,;=~]/g, (letter) => (random.below(2) ? hex(random, letter.charCodeAt(0)) : letter)),
  (path, random) => one(random, path, /%/g, () => "%25"),
  (path, random) => one(random, path, /%[0-9a-f]{2}/gi, (escape) => (random.below(2) ? escape.toLowerCase() : escape.toUpperCase())),
  (path, random) => one(random, path, /[a-z]/gi, (letter) => (random.below(2) ? letter.toUpperCase() : letter.toLowerCase())),
  (path, random) => one(random, path, /\//g, () => random.pick(["//", "///", "/./", "/%2e/", "/%2E/", "/x/../", "/x/%2e%2e/", "/x/.%2E/", "//../", "/;/", "/../"])),
  (path, random) => one(random, path, /\//g, () => random.pick(["%2F", "%2f", "\\", "%5C", "%5c", "/\\", "%252F", "%2F%2F", "%2F..%2F"])),
  (path, random) => path + random.pick(["/", "//", "/.", "/..", "/x/..", "%2F", "\\", "/%2e", "/x", ".json", ";", ";jsessionid=1", "%20", "%00", "?", "#", "%3F", ".", "/x%2F.."]),
  (path, random) => anywhere(random, path, random.pick(PIECES)),
  (path, random) => `/${random.pick(["x", ".", "..", "", "v1", "%2e", "login"])}/${random.pick(["..", ".", "%2e%2e", ".%2e", ""])}${path}`,
];

const QUERIES = ["?", "?x=1", "?/../x", "?a=%2F&b=%", "??", "?#", "?x=/login", "#", "#/..", "#x?y", "?;", "?\\"];
const METHODS = ["HEAD", "HEAD", "POST", "GET", "PUT", "OPTIONS", "DELETE", "PATCH"];

/** One request: `{ method, target, host }`. */
export function spelling(random) {
  const plain = random.pick(PLAIN);
  let [method, path] = plain;
  let host = plain[2] ?? "shop.example";
  for (let twists = random.below(4); twists > 0; twists--) path = random.pick(TWISTS)(path, random);
  if (random.below(6) === 0) path += random.pick(QUERIES);
  if (random.below(8) === 0) method = random.pick(METHODS);
  if (random.below(8) === 0) host = random.pick([host.toUpperCase(), `${host}:80`, `${host}.`, `${host}:8080`, host.replace("e", "E"), `${host}.:80`]);
  if (random.below(12) === 0) path = `http://${random.pick([host, host, "ADMIN.example", "shop.example:80", "u@shop.example"])}${path}`;
  return { method, target: path, host };
}
