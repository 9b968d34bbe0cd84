// The bindings of a Worker or an object on the held clock: each call to an object and each
// statement to D1 takes its time on that clock, half on the way there and half on the way back, and
// is known to be under way until it is done.
import { wrap } from "../../tests/edge/harness/faults.mjs";
import { clock, endRealTimeout, realTimeout } from "./clock.mjs";

/**
 * The work that is under way. Calls to objects are counted on both sides, since the object may be
 * in another isolate than its caller; `working` are the objects of this isolate that work on
 * something and wait for no pause, `io` are real answers waited for.
 */
export const underWay = { sent: 0, arrived: 0, returned: 0, received: 0, working: 0, io: 0 };

let waiting = null;

/** Says that `underWay` has changed. */
function changed() {
  waiting?.();
  waiting = null;
}

/** Resolves when `underWay` changes; in any case soon. */
export function change() {
  return new Promise((resolve) => {
    const timer = realTimeout(resolve, 5);
    waiting = () => {
      endRealTimeout(timer);
      resolve();
    };
  });
}

/** An object's calls, kept up to date in `underWay.working`. */
export class Inside {
  #calls = 0;
  #pauses = 0;
  #works = 0;
  #doneAt = clock.now();

  /** How long nobody has called, in milliseconds. */
  get idle() {
    return this.#calls > 0 ? 0 : clock.now() - this.#doneAt;
  }

  #update() {
    const works = this.#calls > 0 && this.#pauses === 0 ? 1 : 0;
    underWay.working += works - this.#works;
    this.#works = works;
    changed();
  }

  enter() {
    underWay.arrived += 1;
    this.#calls += 1;
    this.#update();
  }

  leave() {
    underWay.returned += 1;
    this.#calls -= 1;
    this.#doneAt = clock.now();
    this.#update();
  }

  pause(by) {
    this.#pauses += by;
    this.#update();
  }
}

async function pause(ms, inside) {
  if (ms <= 0) return;
  if (!inside) return void (await clock.pause(ms));
  inside.pause(1);
  // The runtime gives up on work that waits for nothing real.
  const guard = realTimeout(() => {}, 600_000);
  await clock.pause(ms, () => inside.pause(-1));
  endRealTimeout(guard);
}

async function across(ms, inside, run) {
  await pause(ms / 2, inside);
  try {
    return await run();
  } finally {
    await pause(ms / 2, inside);
  }
}

async function io(run) {
  underWay.io += 1;
  try {
    return await run();
  } finally {
    underWay.io -= 1;
    changed();
  }
}

async function call(run) {
  underWay.sent += 1;
  try {
    return await run();
  } finally {
    underWay.received += 1;
    changed();
  }
}

function heldStub(stub, calls, ms) {
  const one = (name) => (...args) => across(ms, undefined, () => call(() => stub[name](...args)));
  return wrap(stub, Object.fromEntries(calls.map((name) => [name, one(name)])));
}

function heldNamespace(namespace, calls, ms) {
  return wrap(namespace, {
    get: (...args) => heldStub(namespace.get(...args), calls, ms),
    getByName: (...args) => heldStub(namespace.getByName(...args), calls, ms),
  });
}

function heldStatement(statement, ms, inside) {
  for (const method of ["run", "all", "first", "raw"]) {
    const real = statement[method].bind(statement);
    statement[method] = (...args) => across(ms, inside, () => io(() => real(...args)));
  }
  const bind = statement.bind.bind(statement);
  statement.bind = (...values) => heldStatement(bind(...values), ms, inside);
  return statement;
}

function heldDatabase(database, ms, inside) {
  return wrap(database, {
    prepare: (sql) => heldStatement(database.prepare(sql), ms, inside),
    batch: (statements) => across(ms, inside, () => io(() => database.batch(statements))),
    exec: (sql) => across(ms, inside, () => io(() => database.exec(sql))),
    withSession: (...args) => heldDatabase(database.withSession(...args), ms, inside),
  });
}

/**
 * `env` on the held clock; `inside` is the object whose it is, if it is an object's. `held` says
 * which bindings there are, and the distances.
 */
export function heldEnv(env, held, inside) {
  const replaced = {};
  for (const [binding, { calls }] of Object.entries(held.objects)) replaced[binding] = heldNamespace(env[binding], calls, held.distance.actor);
  for (const binding of held.d1) replaced[binding] = heldDatabase(env[binding], held.distance.d1, inside);
  for (const binding of held.limiters) {
    const limiter = env[binding];
    replaced[binding] = { limit: (...args) => io(() => limiter.limit(...args)) };
  }
  return new Proxy(env, { get: (object, property) => replaced[property] ?? Reflect.get(object, property, object) });
}
