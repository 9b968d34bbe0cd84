// A small seeded generator (mulberry32): PENSTOCK_SEED repeats a failing run.
export class Random {
  #state;

  constructor(seed) {
    this.#state = seed >>> 0;
  }

  /** The seed in PENSTOCK_SEED, or a new one. */
  static seed() {
    return Number(process.env.PENSTOCK_SEED ?? Math.floor(Math.random() * 2 ** 32));
  }

  /** An integer in 0 … n − 1. */
  below(n) {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let x = this.#state;
    x = Math.imul(x ^ (x >>> 15), x | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return Math.floor((((x ^ (x >>> 14)) >>> 0) / 2 ** 32) * n);
  }

  pick(list) {
    return list[this.below(list.length)];
  }

  /** `n` characters in `from` … `to`, as Latin-1 text. */
  text(n, from = 0x21, to = 0x7e) {
    return Array.from({ length: n }, () => String.fromCharCode(from + this.below(to - from + 1))).join("");
  }
}
