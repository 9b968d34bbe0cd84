// Holds a test to the faults that it orders: a fault that no call ever met has tested nothing.

export class OrderedFaults {
  /** The fault in force by kind: `{ id, order }`. */
  #inForce = {};
  #last = 0;

  /** `faults` by kind, each with an id that the runtime counts its calls under; null ends one. */
  number(faults) {
    const numbered = {};
    for (const [kind, order] of Object.entries(faults)) {
      // `unmet` says why no call may meet a fault. It is for the check alone.
      const { unmet: _, ...fault } = order === true ? {} : (order ?? {});
      numbered[kind] = order ? { ...fault, id: ++this.#last } : null;
    }
    return numbered;
  }

  /**
   * Puts `numbered` in force in place of the faults of the same kinds; fails where one of those was
   * never met.
   *
   * @param {object} orders what the test ordered, by kind
   * @param {object[]} counts how often each fault was met, by its id, in each isolate
   * @returns how often each fault that ended was met, by kind
   */
  replace(orders, numbered, counts) {
    const ended = Object.keys(orders).filter((kind) => this.#inForce[kind]);
    const met = Object.fromEntries(ended.map((kind) => [kind, this.#count(kind, counts)]));
    const unmet = ended.filter((kind) => met[kind] === 0 && !this.#inForce[kind].order.unmet);
    const described = unmet.map((kind) => `${kind} ${JSON.stringify(this.#inForce[kind].order)}`);
    for (const [kind, order] of Object.entries(orders)) this.#inForce[kind] = order && { id: numbered[kind].id, order };
    if (described.length > 0) throw new Error(`no call met the fault that was ordered: ${described.join(", ")}`);
    return met;
  }

  #count(kind, counts) {
    const { id } = this.#inForce[kind];
    return counts.reduce((sum, met) => sum + (met[id] ?? 0), 0);
  }

  /** Orders that end every fault in force; null where there is none. */
  get endings() {
    const kinds = Object.keys(this.#inForce).filter((kind) => this.#inForce[kind]);
    return kinds.length > 0 ? Object.fromEntries(kinds.map((kind) => [kind, null])) : null;
  }
}
