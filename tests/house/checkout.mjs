// A copy of this checkout, to break rules in, and the program that has to see it.
import { spawnSync } from "node:child_process";
import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { check } from "../../scripts/invariants.mjs";

const HOUSE = fileURLToPath(new URL("../..", import.meta.url));
const PROGRAM = join(HOUSE, "scripts/invariants.mjs");

/** All that the rules read. */
const PARTS = [
  "src",
  "tests",
  "scripts",
  "bench",
  "docs",
  ".gitignore",
  "ARCHITECTURE.md",
  "README.md",
  "Cargo.toml",
  "clippy.toml",
  "package-lock.json",
];

export class Checkout {
  /** By rule, the findings in the checkout as it is. */
  #findings = new Map();

  /** A copy of this checkout, or of some of its files and folders. */
  static copy(parts = PARTS) {
    const checkout = new Checkout();
    for (const part of parts) cpSync(join(HOUSE, part), join(checkout.root, part), { recursive: true });
    return checkout;
  }

  /** A checkout of the given files alone: texts by paths. */
  static of(files) {
    const checkout = new Checkout();
    for (const [path, text] of Object.entries(files)) checkout.#write(path, text);
    return checkout;
  }

  constructor() {
    this.house = HOUSE;
    this.root = mkdtempSync(join(tmpdir(), "house-"));
  }

  remove() {
    rmSync(this.root, { recursive: true });
  }

  read(path) {
    return readFileSync(join(this.root, path), "utf8");
  }

  /** Everything that a rule finds, armed or not. */
  found(rule) {
    return check(this.root, [rule], new Map([[rule, true]]))[0].found;
  }

  /** The program's own words on the checkout, and its status. */
  run(...options) {
    return spawnSync(process.execPath, [PROGRAM, "--root", this.root, ...options], { encoding: "utf8" });
  }

  /**
   * Asserts that a finding of the rule begins with `place` after the edits, and not before. An edit
   * is the new text of a file, a function of the old text, or `null` to remove a file or a folder.
   */
  assertBreaks(rule, edits, place) {
    const tells = (findings) => findings.some((finding) => finding.startsWith(place));
    assert.ok(!tells(this.#before(rule)), `${place} is told of before it is broken`);
    const found = this.with(edits, () => this.found(rule));
    assert.ok(tells(found), `${rule} does not tell of ${place} but of:\n${found.join("\n")}`);
  }

  /** Asserts that the rule finds the same with these edits. */
  assertAllows(rule, edits) {
    const before = this.#before(rule);
    assert.deepEqual(
      this.with(edits, () => this.found(rule)),
      before,
    );
  }

  #before(rule) {
    if (!this.#findings.has(rule)) this.#findings.set(rule, this.found(rule));
    return this.#findings.get(rule);
  }

  /** The result of `work`, which sees the edits. */
  with(edits, work) {
    const restore = Object.keys(edits).map((path) => this.#edit(path, edits[path]));
    try {
      return work();
    } finally {
      for (const each of restore.reverse()) each();
    }
  }

  /** Makes one edit; returns how to undo it. */
  #edit(path, edit) {
    const at = join(this.root, path);
    const aside = `${this.root}-${path.replaceAll("/", "-")}`;
    const was = existsSync(at);
    if (was) cpSync(at, aside, { recursive: true });
    if (edit === null) assert.ok(was, `${path} is there to be removed`);
    const text = typeof edit === "function" ? edit(this.read(path)) : edit;
    if (typeof edit === "function") assert.notEqual(text, this.read(path), `the edit changes ${path}`);
    if (text === null) rmSync(at, { recursive: true });
    else this.#write(path, text);
    return () => {
      rmSync(at, { recursive: true, force: true });
      if (was) cpSync(aside, at, { recursive: true });
      rmSync(aside, { recursive: true, force: true });
    };
  }

  #write(path, text) {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), text);
  }
}

/** An edit that adds lines at the end of a file. */
export function append(lines) {
  return (text) => `${text}${lines}\n`;
}

/** The number of the line that an appended text begins at. */
export function nextLine(text) {
  return text.split("\n").length;
}
