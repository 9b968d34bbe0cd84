// What the compressed module is made of: code by crate, from the names of its functions, and data. Compressed sizes are shares of the
// whole section's, since a compressor does not know crates. Run by `make size`, after `make build`.
import { readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";

const bytes = await readFile(process.argv[2] ?? "target/named.wasm");
let at = 8;

function number() {
  let [value, shift] = [0, 0];
  for (;;) {
    const byte = bytes[at++];
    value += (byte & 127) * 2 ** shift;
    shift += 7;
    if (byte < 128) return value;
  }
}

function text() {
  const length = number();
  return bytes.toString("utf8", at, (at += length));
}

const packed = (from, to) => gzipSync(bytes.subarray(from, to), { level: 9 }).length;

let imported = 0;
const code = [];
const names = new Map();
const sections = {};

while (at < bytes.length) {
  const id = bytes[at++];
  const end = number() + at;
  const begin = at;
  if (id === 2) {
    for (let left = number(); left > 0; left--) {
      text(), text();
      const kind = bytes[at++];
      if (kind === 0) imported++, number();
      else at = kind === 1 ? (at++, limits(), at) : kind === 2 ? (limits(), at) : at + 2;
    }
  }
  if (id === 10) {
    for (let left = number(), index = imported; left > 0; left--, index++) {
      const size = number();
      code.push({ index, size });
      at += size;
    }
    sections.code = { size: end - begin, packed: packed(begin, end) };
  }
  if (id === 11) sections.data = { size: end - begin, packed: packed(begin, end) };
  if (id === 0 && text() === "name") {
    sections.names = { size: end - begin, packed: packed(begin, end) };
    while (at < end) {
      const kind = bytes[at++];
      const until = number() + at;
      if (kind === 1) for (let left = number(); left > 0; left--) names.set(number(), text());
      at = until;
    }
  }
  at = end;
}

function limits() {
  const flags = bytes[at++];
  number();
  if (flags & 1) number();
}

/** The crate that a function belongs to, as its name begins: `<jiff::tz::…`, `core[1f…]::fmt::…`. */
function crate(name = "") {
  return /^[<&(\[*\s]*(?:mut |dyn |const )?([a-z_0-9]+)(?:\[[0-9a-f]+\])?::/i.exec(name)?.[1] ?? "(no name)";
}

const crates = new Map();
for (const { index, size } of code) crates.set(crate(names.get(index)), (crates.get(crate(names.get(index))) ?? 0) + size);

const whole = gzipSync(bytes, { level: 9 }).length;
const kib = (size) => `${(size / 1024).toFixed(1).padStart(7)} KiB`;
console.log(`${kib(whole)} compressed in all (${kib(bytes.length)} before), names included; they are not in what is deployed`);
for (const [name, { size, packed }] of Object.entries(sections)) console.log(`${kib(packed)} ${name.padEnd(24)} ${kib(size)} before`);
console.log("\nThe code, by crate:");
for (const [name, size] of [...crates].sort(([, a], [, b]) => b - a).slice(0, 16)) {
  console.log(`${kib((size / sections.code.size) * sections.code.packed)} ${name.padEnd(24)} ${kib(size)} before`);
}
