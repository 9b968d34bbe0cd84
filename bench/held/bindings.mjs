// The bindings of a Worker or an object on the held clock: each call to an object and each
// statement to D1 takes its time on that clock, half on the way there and half on the way back, and
// is known to be under way until it is done.
import { wrap } from "../../tests/edge/harness/faults.mjs";
import { clock, endRealTimeout, realTimeout } from "./clock.mjs";

/**
 * The work that is under way. Calls to objects are counted on both sides, since the object may be
 * in another isolate than its caller; `working` are the objects of this isolate that work on
 * something and wait for no pause, `io` are real answers that a Worker or an object waits for, and
 * `own` those of the Worker.
 */
export const underWay = { sent: 0, arrived: 0, returned: 0, received: 0, working: 0, io: 0, own: 0 };

let waiting = null;

/** Says that the Worker's part of `underWay` has changed. Called in the context of its session. */
export function changed() {
  waiting?.();
}

/** Resolves when the Worker's part of `underWay` changes; in any case soon. */
export async function change() {
  let timer;
  const soon = new Promise((resolve) => (timer = realTimeout(resolve, 5)));
  await Promise.race([soon, new Promise((resolve) => (waiting = resolve))]);
  endRealTimeout(timer);
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

/**
 * How often an object looks whether its pause is over, in milliseconds: the runtime may be late to
 * say so.
 */
const LOOK = 50;

async function pause(ms, inside) {
  if (ms <= 0) return;
  if (!inside) return void (await clock.pause(ms));
  inside.pause(1);
  let over = false;
  const woken = clock.pause(ms, () => {
    over = true;
    inside.pause(-1);
  });
  // The clock moves on in the session's context, which is not the object's. A real timer also keeps
  // the runtime from giving up on work that waits for nothing.
  while (!over) {
    let timer;
    await Promise.race([woken, new Promise((resolve) => (timer = realTimeout(resolve, LOOK)))]);
    endRealTimeout(timer);
  }
}

async function across(ms, inside, run) {
  await pause(ms / 2, inside);
  try {
    return await run();
  } finally {
    await pause(ms / 2, inside);
  }
}

/** Runs something that ends by itself, for the Worker or, if there is one, for the object. */
async function io(inside, run) {
  underWay.io += 1;
  if (!inside) underWay.own += 1;
  try {
    return await run();
  } finally {
    underWay.io -= 1;
    if (!inside) underWay.own -= 1;
    if (!inside) changed();
  }
}

async function call(inside, run) {
  underWay.sent += 1;
  try {
    return await run();
  } finally {
    underWay.received += 1;
    if (!inside) changed();
  }
}

function heldStub(stub, calls, ms, inside) {
  const one = (name) => (...args) => across(ms, inside, () => call(inside, () => stub[name](...args)));
  return wrap(stub, Object.fromEntries(calls.map((name) => [name, one(name)])));
}

function heldNamespace(namespace, calls, ms, inside) {
  return wrap(namespace, {
    get: (...args) => heldStub(namespace.get(...args), calls, ms, inside),
    getByName: (...args) => heldStub(namespace.getByName(...args), calls, ms, inside),
  });
}

function heldStatement(statement, ms, inside) {
  for (const method of ["run", "all", "first", "raw"]) {
    const real = statement[method].bind(statement);
    statement[method] = (...args) => across(ms, inside, () => io(inside, () => real(...args)));
  }
  const bind = statement.bind.bind(statement);
  statement.bind = (...values) => heldStatement(bind(...values), ms, inside);
  return statement;
}

function heldDatabase(database, ms, inside) {
  return wrap(database, {
    prepare: (sql) => heldStatement(database.prepare(sql), ms, inside),
    batch: (statements) => across(ms, inside, () => io(inside, () => database.batch(statements))),
    exec: (sql) => across(ms, inside, () => io(inside, () => database.exec(sql))),
    withSession: (...args) => heldDatabase(database.withSession(...args), ms, inside),
  });
}

/**
 * `env` on the held clock; `inside` is the object whose it is, if it is an object's. `held` says
 * which bindings there are, and the distances.
 */
export function heldEnv(env, held, inside) {
  const replaced = {};
  for (const [binding, { calls }] of Object.entries(held.objects)) {
    replaced[binding] = heldNamespace(env[binding], calls, held.distance.actor, inside);
  }
  for (const binding of held.d1) replaced[binding] = heldDatabase(env[binding], held.distance.d1, inside);
  for (const binding of held.limiters) {
    const limiter = env[binding];
    replaced[binding] = { limit: (...args) => io(inside, () => limiter.limit(...args)) };
  }
  return new Proxy(env, { get: (object, property) => replaced[property] ?? Reflect.get(object, property, object) });
}
