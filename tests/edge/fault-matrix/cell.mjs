// One cell of the matrix: a fault of the actors with a fault of D1, for a limit with one
// `on_error`.
import assert from "node:assert/strict";
import { parallel } from "../harness/index.mjs";
import { processorTime } from "../harness/process.mjs";

export const DEADLINE = 100;
const CALLERS = 6;
/** Requests per caller: with every call failing, with every second one, and afterwards. */
export const SENT = { all: 14, some: 10, none: 4 };
/** Requests that one caller may have: 20 an hour by address, 15 a day by key. */
const BY_ADDRESS = 20;
const BY_KEY = 15;
export const MODES = ["local", "open", "closed"];

const limits = { per_ip: `${BY_ADDRESS}/h`, per_key: `${BY_KEY}/day`, global: "100000/s" };
const bindings = MODES.map((mode) => [`LIMIT_${mode.toUpperCase()}`, { route: `/${mode}`, on_error: mode, ...limits }]);
/** With DURABLE_AFTER = "0s" a crash forgives no debt. */
export const VARS = { DEADLINE: `${DEADLINE}ms`, DURABLE_AFTER: "0s", TRACE: "header", ...Object.fromEntries(bindings) };

/** The least time that 99 of 100 decisions took at most; `times` are in ascending order. */
export const p99 = (times) => times[Math.ceil(times.length * 0.99) - 1];
const ascending = (times) => times.toSorted((a, b) => a - b);

let cells = 0;

export class Cell {
  #answers = [];
  #restored = [];
  /** Of the runtime's busiest thread during the waves, in milliseconds. */
  #processor = { run: 0, wait: 0 };
  #callers;

  constructor(edge, mode) {
    Object.assign(this, { edge, mode });
    const number = ++cells;
    this.#callers = Array.from({ length: CALLERS }, (_, index) => ({ ip: `198.18.${number}.${index}`, key: `${number}-${index}` }));
  }

  async #send(caller) {
    const { status, headers, text } = await this.edge.get(`/${this.mode}`, this.#callers[caller]);
    this.#answers.push({ caller, status, text, type: headers["content-type"], trace: headers["penstock-trace"] });
    return this.#answers.at(-1);
  }

  /** Sends so many requests of each caller at once. */
  async wave(each) {
    const spent = processorTime();
    await parallel(each * CALLERS, (index) => this.#send(index % CALLERS));
    const { run, wait } = spent();
    this.#processor.run += run;
    this.#processor.wait += wait;
  }

  /**
   * Sends requests after the faults: a wave that finds out that they have ended, and one more each.
   */
  async recover() {
    await this.wave(SENT.none - 1);
    for (let caller = 0; caller < CALLERS; caller++) this.#restored.push(await this.#send(caller));
  }

  #count(status) {
    return this.#answers.filter((answer) => answer.status === status).length;
  }

  /** Asserts that every answer is the origin's or a refusal of the Worker's own. */
  #checkAnswers() {
    for (const { status, text, type, trace } of this.#answers) {
      assert.match(String(status), /^(200|429|503)$/, text);
      assert.ok(trace, "every answer has a trace");
      if (status === 200) continue;
      assert.equal(type, "application/problem+json", text);
      const { reason } = JSON.parse(text);
      assert.equal(reason === "limiter_unavailable", status === 503, text);
    }
    const arrived = this.edge.origin.seen.filter(({ url, headers }) => this.#isOurs(url, headers));
    assert.equal(arrived.length, this.#count(200), "the origin saw the admitted requests, each once");
  }

  #isOurs(url, headers) {
    return url === `/${this.mode}` && this.#callers.some(({ key }) => key === headers["x-api-key"]);
  }

  /** Asserts the guarantee of the cell's `on_error`; returns the most that one caller got. */
  #checkGuarantee() {
    const admitted = this.#callers.map((_, caller) => this.#answers.filter((a) => a.caller === caller && a.status === 200).length);
    const most = Math.max(...admitted);
    if (this.mode === "closed") assert.ok(most <= BY_KEY, `${most} admitted of ${BY_KEY}`);
    if (this.mode === "local") assert.ok(most <= BY_ADDRESS, `${most} admitted of ${BY_ADDRESS}`);
    if (this.mode === "open") assert.equal(this.#count(503), 0, "the limiter never costs availability");
    return most;
  }

  /** Asserts that each limit of each caller is checked again. */
  #checkRestored() {
    const amiss = this.#restored.filter(({ trace, status }) => /unchecked/.test(trace) || status === 503);
    assert.deepEqual(amiss.map(({ trace }) => trace), [], "each limit is checked again once the faults have ended");
  }

  /**
   * The cell's figures; fails where an outcome is not as it has to be.
   *
   * @returns among others `times` of its decisions in milliseconds, ascending, and by which factor
   *   other processes made the runtime's work `slower`
   */
  judge() {
    this.#checkAnswers();
    const most = this.#checkGuarantee();
    this.#checkRestored();
    const times = ascending(this.#answers.map(({ trace }) => Number(/us=(\d+)/.exec(trace)[1]) / 1_000));
    const { run, wait } = this.#processor;
    const slower = run > 0 ? (run + wait) / run : 1;
    return { most, passed: this.#count(200), refused: this.#count(429), unavailable: this.#count(503), times, slower };
  }
}
