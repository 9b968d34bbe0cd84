// Tells wasm-metadce which exports of a module are of use: all but those of the classes that crates bring along and nothing here makes.
import { readFileSync } from "node:fs";

const OURS = ["bucketactor", "owner"];

const exported = WebAssembly.Module.exports(new WebAssembly.Module(readFileSync(process.argv[2]))).map(({ name }) => name);
const classes = exported.flatMap((name) => /^__wbg_(\w+)_free$/.exec(name)?.[1] ?? []);
const theirs = classes.filter((name) => !OURS.includes(name)).map((name) => new RegExp(`^(__wbg_([gs]et_)?)?${name}_`));
const used = exported.filter((name) => !theirs.some((own) => own.test(name)));
console.log(JSON.stringify(used.map((name) => ({ name, root: true, export: name }))));
