// Durable Objects on the held clock: alarms go off by it, and an object that nobody has called for
// ten seconds has forgotten what it had in memory, as on the platform.
import { DurableObject } from "cloudflare:workers";
import { patch } from "../workers/count.mjs";
import { changed, heldEnv, Inside, underWay } from "./bindings.mjs";
import { clock } from "./clock.mjs";

/** How long an idle object stays in memory. */
const IDLE = 10_000;

/** When each object's alarm is due: by id, with the namespace's binding. */
const alarms = new Map();

/** The objects by their storage. */
const owners = new WeakMap();

/** When the next alarm is due, or null. */
export function nextAlarm() {
  let next = null;
  for (const { at } of alarms.values()) if (next === null || at < next) next = at;
  return next;
}

/** Runs the alarms that are due. */
export function runAlarms(env) {
  for (const [id, { at, binding }] of alarms) {
    if (at > clock.now()) continue;
    alarms.delete(id);
    const namespace = env[binding];
    underWay.sent += 1;
    const received = () => {
      underWay.received += 1;
      changed();
    };
    namespace.get(namespace.idFromString(id)).heldAlarm().then(received, received);
  }
}

function holdStorage(storage) {
  const hold = (name, replace) => patch(Object.getPrototypeOf(storage), name, replace, "held");
  hold("setAlarm", () =>
    async function (time) {
      const { id, binding } = owners.get(this);
      alarms.set(id, { at: Number(time), binding });
    },
  );
  hold("getAlarm", () =>
    async function () {
      return alarms.get(owners.get(this).id)?.at ?? null;
    },
  );
  hold("deleteAlarm", () =>
    async function () {
      alarms.delete(owners.get(this).id);
    },
  );
  hold("deleteAll", (real) =>
    function (...args) {
      alarms.delete(owners.get(this).id);
      return real.apply(this, args);
    },
  );
}

/** The counted class `Watched` of `binding`, held. */
export function heldObject(Watched, binding, held) {
  class Held extends DurableObject {
    #inside = new Inside();
    #object;

    constructor(ctx, env) {
      super(ctx, env);
      owners.set(ctx.storage, { id: ctx.id.toString(), binding });
      holdStorage(ctx.storage);
      this.#wake();
    }

    #wake() {
      this.#object = new Watched(this.ctx, heldEnv(this.env, held, this.#inside));
    }

    async #call(name, args) {
      if (this.#inside.idle >= IDLE) this.#wake();
      this.#inside.enter();
      try {
        return await this.#object[name](...args);
      } finally {
        this.#inside.leave();
      }
    }

    static {
      for (const name of new Set([...held.objects[binding].calls, "fetch"])) {
        this.prototype[name] = function (...args) {
          return this.#call(name, args);
        };
      }
      this.prototype.heldAlarm = function () {
        return this.#call("alarm", [{ isRetry: false, retryCount: 0 }]);
      };
    }
  }
  return Held;
}
