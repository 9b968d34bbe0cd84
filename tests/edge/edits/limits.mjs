// Random limits, random edits of them, and the counts that must be left after each.

const RATES = ["h", "2h", "24h", "30d"];
const ZONES = ["", " +08:00", " Asia/Kolkata"];
const SCOPES = ["per_ip", "per_key", "global"];

/** One to three bindings with one field each: `{ name, path, field, entries: [{ count, period }] }`. */
export function randomLimits(random) {
  return SCOPES.map((field, index) => {
    const entries = Array.from({ length: 1 + random.below(3) }, () => rate(random));
    if (random.below(2)) entries.splice(random.below(entries.length + 1), 0, quota(random));
    return { name: `b${index}`, path: `/b${index}`, field, entries };
  });
}

function rate(random) {
  return { count: 1 + random.below(9), period: random.pick(RATES) };
}

function quota(random) {
  return { count: 1 + random.below(9), period: `day${random.pick(ZONES)}` };
}

const isQuota = ({ period }) => period.startsWith("day");

/** The vars of these limits. */
export function vars(limits) {
  // A binding that was renamed leaves its name behind.
  const none = Object.fromEntries(limits.flatMap(({ name }) => [name, other(name)]).map((name) => [bindingVar(name), null]));
  const tables = limits.map(({ name, path, field, entries }) => [
    bindingVar(name),
    { route: path, [field]: entries.map(({ count, period }) => `${count}/${period}`) },
  ]);
  return { ...none, ...Object.fromEntries(tables) };
}

const bindingVar = (name) => `LIMIT_${name.toUpperCase()}`;
const other = (name) => (name.endsWith("X") ? name.slice(0, -1) : `${name}X`);

/** One random edit: `{ limits, what }`, in place of `limits`. */
export function edit(limits, random) {
  const index = random.below(limits.length);
  const binding = { ...limits[index], entries: limits[index].entries.map((entry) => ({ ...entry })) };
  const { entries } = binding;
  const at = random.below(entries.length);
  const edits = {
    count: () => (entries[at].count = 1 + random.below(12)),
    period: () => (entries[at].period = (isQuota(entries[at]) ? quota(random) : rate(random)).period),
    add: () => entries.splice(at, 0, entries.some(isQuota) || random.below(2) ? rate(random) : quota(random)),
    remove: () => entries.length > 1 && entries.splice(at, 1),
    swap: () => entries.push(...entries.splice(at, 1)),
    rename: () => (binding.name = other(binding.name)),
    nothing: () => {},
  };
  const what = random.pick(Object.keys(edits));
  edits[what]();
  return { limits: limits.with(index, binding), what: `${what} of ${limits[index].name}` };
}

/** What each counter has counted: no clock moves on, so nothing comes back. */
export class Counters {
  #used = new Map();

  /**
   * Counts one request for each limit of a binding, if all have room; returns the printed names of
   * those that have none.
   */
  take({ name, field, entries }, { ip, key }) {
    const caller = { per_ip: ip, per_key: key, global: "" }[field];
    const seen = new Map();
    const limits = entries.map(({ count, period }, place) => {
      const ordinal = (seen.get(period) ?? 0) + 1;
      seen.set(period, ordinal);
      const counter = [name, field, period, ordinal, caller].join(" ");
      const printed = `${name.toLowerCase()}/${field.replace("per_", "")}${place === 0 ? "" : `-${place + 1}`}`;
      return { counter, printed, count };
    });
    const used = (counter) => this.#used.get(counter) ?? 0;
    const full = limits.filter(({ counter, count }) => used(counter) >= count).map(({ printed }) => printed);
    if (full.length === 0) for (const { counter } of limits) this.#used.set(counter, used(counter) + 1);
    return full;
  }
}
