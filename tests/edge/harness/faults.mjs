// Faults in the bindings that the Worker and its actors are given as `env`.
//
// The bindings stay the real ones behind proxies: the Worker looks at the names of their
// constructors.

/**
 * The fault in force for calls to actors (`actor`), for statements to D1 (`d1`) and for what actors
 * save (`disk`, which is then full); null for none.
 */
export const faults = { actor: null, d1: null, disk: null };

/** How many calls met each fault, by its id. */
export const met = {};

/** Counts a call that meets this fault. */
export function note(fault) {
  met[fault.id] = (met[fault.id] ?? 0) + 1;
}

/** The calls so far: to actors by the name of the object, and to D1. */
export const asked = { actors: {}, d1: 0 };

/** The names of the objects that were asked for, by id. */
export const names = new Map();

/**
 * The fault that this call meets, or null. One with `times` ends after so many calls, one with
 * `match` is for the names that contain it, and one with `every: n` is met by the first of every n.
 */
export function meet(kind, name = "") {
  const fault = faults[kind];
  if (!fault || (fault.match && !name.includes(fault.match))) return null;
  if (fault.times !== undefined && fault.times-- <= 0) return null;
  fault.calls = (fault.calls ?? 0) + 1;
  if (fault.every !== undefined && (fault.calls - 1) % fault.every !== 0) return null;
  // An eviction is met by the object, where it forgets: see entry.mjs.
  if (fault.kind !== "evict") note(fault);
  return fault;
}

function failure(fault, message) {
  const error = new Error(fault.message ?? message);
  return Object.assign(error, fault.flags);
}

async function callActor(stub, name, args) {
  const fault = meet("actor", name);
  asked.actors[name] = (asked.actors[name] ?? 0) + 1;
  switch (fault?.kind) {
    case undefined:
    case "evict":
      return stub.fetch(...args);
    case "hang":
      await scheduler.wait(fault.ms);
      return stub.fetch(...args);
    case "throw":
      throw failure(fault, "Durable Object is overloaded. Too many requests queued.");
    case "lost":
      await (await stub.fetch(...args)).arrayBuffer();
      throw failure(fault, "Network connection lost.");
    case "late": {
      const reply = await stub.fetch(...args);
      await scheduler.wait(fault.ms);
      return reply;
    }
    case "says": {
      const said = fault.texts[fault.calls % fault.texts.length];
      return new Response(null, { headers: { "penstock-reply": said } });
    }
    case "reply":
      return new Response(fault.body ?? null, { status: fault.status ?? 200, headers: fault.headers });
    default:
      throw new Error(`no such actor fault: ${fault.kind}`);
  }
}

async function callD1(run) {
  const fault = meet("d1");
  asked.d1 += 1;
  switch (fault?.kind) {
    case undefined:
      return run();
    case "hang":
      await scheduler.wait(fault.ms);
      return run();
    case "throw":
      throw failure(fault, "D1_ERROR: D1 DB is overloaded. Requests queued for too long.");
    case "lost":
      await run();
      throw failure(fault, "D1_ERROR: Network connection lost.");
    case "nonsense":
      await run();
      return fault.value;
    default:
      throw new Error(`no such D1 fault: ${fault.kind}`);
  }
}

/** `target` with some members replaced; all others are its own, `this` included. */
export function wrap(target, replaced) {
  return new Proxy(target, {
    get(object, property) {
      if (Object.hasOwn(replaced, property)) return replaced[property];
      const value = Reflect.get(object, property, object);
      return typeof value === "function" && property !== "constructor" ? value.bind(object) : value;
    },
  });
}

function watchStub(stub, name) {
  return wrap(stub, { fetch: (...args) => callActor(stub, name, args) });
}

function watchNamespace(namespace) {
  const known = (id) => id.name ?? names.get(id.toString()) ?? id.toString();
  return wrap(namespace, {
    idFromName(name) {
      const id = namespace.idFromName(name);
      names.set(id.toString(), name);
      return id;
    },
    get: (id, ...rest) => watchStub(namespace.get(id, ...rest), known(id)),
    getByName(name, ...rest) {
      names.set(namespace.idFromName(name).toString(), name);
      return watchStub(namespace.getByName(name, ...rest), name);
    },
  });
}

function watchStatement(statement) {
  for (const method of ["run", "all", "first", "raw"]) {
    const real = statement[method].bind(statement);
    statement[method] = (...args) => callD1(() => real(...args));
  }
  const bind = statement.bind.bind(statement);
  statement.bind = (...values) => watchStatement(bind(...values));
  return statement;
}

function watchDatabase(database) {
  return wrap(database, {
    prepare: (sql) => watchStatement(database.prepare(sql)),
    batch: (statements) => callD1(() => database.batch(statements)),
    exec: (sql) => callD1(() => database.exec(sql)),
    withSession: (...args) => watchDatabase(database.withSession(...args)),
  });
}

/** `env` as it is, but that its Durable Objects and its database fail as ordered. */
export function watchEnv(env) {
  const replaced = {};
  if (env.BUCKETS) replaced.BUCKETS = watchNamespace(env.BUCKETS);
  if (env.DB) replaced.DB = watchDatabase(env.DB);
  return new Proxy(env, {
    get: (object, property) => replaced[property] ?? Reflect.get(object, property, object),
  });
}
