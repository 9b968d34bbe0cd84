// Watches at the origin that no limit is exceeded, by what arrives there and when.

/** One bucket as the origin sees it: a GCRA of its own, that counts and refuses nobody. */
class Envelope {
  #tat = 0;
  most = 0;

  constructor({ interval, burst }) {
    Object.assign(this, { interval, burst });
  }

  /**
   * Notes an arrival at `now` (ms).
   *
   * @returns by how many milliseconds of its schedule the bucket is overdrawn
   */
  arrive(now) {
    this.#tat = Math.max(this.#tat, now) + this.interval;
    const over = this.#tat - now - this.interval * this.burst;
    this.most = Math.max(this.most, over);
    return over;
  }
}

/**
 * Holds arrivals at the origin against the limits. A request arrives a little after it was
 * admitted, so requests may bunch up by as long as the slowest takes. Requests beyond a limit add
 * up over time, and are found in the end.
 */
export class Watch {
  /** Sentences about what went wrong. */
  faults = [];
  arrivals = 0;
  #buckets = new Map();
  #days = new Map();

  constructor({ rates, quotas, midnight, slack }) {
    Object.assign(this, { rates, quotas, midnight, slack });
  }

  /** Notes a request to `url` from `ip` with `key`, at `now` (ms). */
  arrive({ url, ip, key }, now) {
    this.arrivals += 1;
    const path = url.split("?")[0];
    for (const { name, under, who, interval, burst } of this.rates) {
      const subject = { ip, key, all: "all" }[who];
      if (subject === undefined || (under && !path.startsWith(under))) continue;
      const id = `${name} of ${subject}`;
      if (!this.#buckets.has(id)) this.#buckets.set(id, new Envelope({ interval, burst }));
      const over = this.#buckets.get(id).arrive(now);
      if (over > this.slack) this.faults.push(`${id} is overdrawn by ${over.toFixed(0)} ms of its schedule`);
    }
    for (const { name, under, count } of this.quotas) {
      if (key === undefined || !path.startsWith(under)) continue;
      const used = this.#days.get(`${name} of ${key}`) ?? { before: 0, all: 0 };
      used.all += 1;
      // The Worker's clock is never ahead of this one: before midnight it is the first day for
      // both.
      if (now < this.midnight) used.before += 1;
      this.#days.set(`${name} of ${key}`, used);
      if (used.before > count || used.all > 2 * count) this.faults.push(`${name} of ${key}: ${JSON.stringify(used)} of ${count} a day`);
    }
  }

  /** The most that any bucket was overdrawn, in ms of its schedule. */
  get most() {
    return Math.max(0, ...[...this.#buckets.values()].map(({ most }) => most));
  }
}
