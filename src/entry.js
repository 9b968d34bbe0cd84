// The entry module: the runtime calls it, and it calls the WebAssembly module. It replaces
// worker-build's own entry, which wraps each request in proxies.
//
// A panic, or an exception that passes through the module's code, leaves the instance unusable, and
// its pending requests would never be answered. So the next call gets a new instance, and the
// requests that are pending in the failed one are answered here.
import * as module from "./index.js";

const state = module.__worker_init_state();

/**
 * The pending requests of this instance, as functions that give a request up. Weak, so that a
 * request whose client has left, and which therefore never settles, can be collected.
 */
const pending = new Set();

/** The value of a request that was given up because its instance failed. */
const INSTANCE_FAILED = Symbol("instance failed");

/** The least size of `pending` at which it is searched for collected requests. */
const LEAST_SWEEP = 1_000;

/**
 * The size of `pending` at which it is searched next. It grows while most entries are alive, so
 * that the cost of a search is spread over as many requests.
 */
let sweepAt = LEAST_SWEEP;

/**
 * The problem of last resort, when the new instance fails as well: the module's own problem
 * `limiter_unavailable`, in JSON.
 */
const PROBLEM = {
  type: "about:blank",
  title: "Service unavailable",
  status: 503,
  reason: "limiter_unavailable",
  retry_after: 1,
  detail: "The rate limiter failed while it worked on this request. Try again in 1 second.",
};

/** Makes the response of last resort to a request. */
function lastResort(request, { CORS_ORIGINS }) {
  const headers = { "Content-Type": "application/problem+json", "Cache-Control": "no-store", "Retry-After": "1" };
  const ray = request.headers.get("CF-Ray") ?? "";
  const isRay = /^[A-Za-z0-9-]{1,64}$/.test(ray);
  const request_id = isRay ? ray : crypto.randomUUID().replaceAll("-", "").slice(16);
  if (!isRay) headers["Penstock-Request-Id"] = request_id;
  // Without CORS_ORIGINS any page may read a refusal.
  if (CORS_ORIGINS == null) {
    const exposed = `Retry-After, ${isRay ? "CF-Ray" : "Penstock-Request-Id"}`;
    Object.assign(headers, { "Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": exposed });
  }
  const retry_at = `${new Date(Date.now() + 1_999).toISOString().slice(0, 19)}Z`;
  const error = { message: PROBLEM.detail, type: "api_error", code: PROBLEM.reason };
  return new Response(JSON.stringify({ ...PROBLEM, retry_at, request_id, error }), { status: 503, headers });
}

/** Makes a new instance when the last one has failed. */
function renewFailedInstance() {
  if (!state.criticalError) return;
  console.error(JSON.stringify({ event: "warning", place: "module", problem: "it failed, and begins anew" }));
  module.__wbg_reset_state();
  state.criticalError = false;
  state.instanceId += 1;
}

/** Marks the instance as failed, and gives up its pending requests. */
function failInstance() {
  state.criticalError = true;
  for (const giveUp of pending) giveUp.deref()?.();
  pending.clear();
}

/** Marks the instance as failed when `error` is a trap, or when the module has noted a failure. */
function checkForFailure(error) {
  if (error instanceof WebAssembly.RuntimeError || state.criticalError) failInstance();
}

addEventListener("error", ({ error }) => checkForFailure(error));
addEventListener("unhandledrejection", ({ reason }) => checkForFailure(reason));

// The module polls its futures in microtasks, which are queued here. The runtime's own
// `queueMicrotask` makes a function object for each call, which costs more than a decision, and
// hides exceptions.
const settled = Promise.resolve();
globalThis.queueMicrotask = (poll) => {
  settled.then(() => {
    try {
      poll();
    } catch {
      // A future reports its errors as values. An exception means that the module has failed.
      failInstance();
    }
  });
};

/**
 * Calls the module by `call`, in an instance that works. Returns the value of `then` for the
 * result, or a promise of it when the result is a promise. Returns the value of `onFailure` when
 * the instance fails before the result is there.
 */
function callModule(call, onFailure, then = (value) => value) {
  renewFailedInstance();
  try {
    const result = call();
    return result instanceof Promise ? settle(result, onFailure, then) : then(result);
  } catch {
    // The module reports errors by rejected promises. An exception means that it has failed.
    failInstance();
    return onFailure();
  }
}

/** Waits for `result`, or for the failure of the instance. */
function settle(result, onFailure, then) {
  const first = new Promise((resolve, reject) => {
    const giveUp = () => resolve(INSTANCE_FAILED);
    const entry = addPending(giveUp);
    result.then(
      (value) => {
        pending.delete(entry);
        resolve(value);
      },
      (error) => {
        pending.delete(entry);
        checkForFailure(error);
        if (state.criticalError) giveUp();
        else reject(error);
      },
    );
  });
  // `onFailure` must run in the context of its own request. `giveUp` may be called in another's, so
  // it only resolves the promise.
  return first.then((value) => (value === INSTANCE_FAILED ? onFailure() : then(value)));
}

/** Adds a pending request, and returns its entry in `pending`. */
function addPending(giveUp) {
  const entry = new WeakRef(giveUp);
  pending.add(entry);
  if (pending.size > sweepAt) {
    for (const other of pending) if (!other.deref()) pending.delete(other);
    sweepAt = Math.max(LEAST_SWEEP, 2 * pending.size);
  }
  return entry;
}

// The heartbeats of requests in flight outlive the instance that admitted them. Each calls the
// instance that is there at the time; a call whose instance fails has no result.
const inCurrentInstance = (call) => (...args) => callModule(() => call(...args), () => {});
module.connect_heartbeats(...[module.heartbeat, module.release, module.crowded].map(inCurrentInstance));

export default {
  fetch(request, env, context) {
    // A new instance answers, in the format that the client reads. `error` is the error of the
    // fetch from the origin; it is undefined when the instance failed before it answered.
    const answerFailure = (error) =>
      callModule(() => module.answer_failure(request, env, context, error), () => lastResort(request, env));
    const onInstanceFailure = () => answerFailure();
    // A request that is forwarded in JavaScript needs the module only when it fails.
    const then = (answer) => answer.forwarded?.catch(answerFailure) ?? answer;
    return callModule(() => module.fetch(request, env, context), onInstanceFailure, then);
  },
  async scheduled(event, env, context) {
    await callModule(() => module.scheduled(event, env, context), () => {});
  },
};

export class BucketActor {
  constructor(state, env) {
    Object.assign(this, { args: [state, env], instance: undefined, actor: undefined });
  }

  /**
   * Calls the actor in the current instance of the module. After a failure the actor is made anew
   * from its storage.
   */
  callActor(call) {
    return callModule(
      () => {
        if (this.instance !== state.instanceId) {
          this.actor = new module.BucketActor(...this.args);
          this.instance = state.instanceId;
        }
        return call(this.actor);
      },
      () => {
        throw new Error("the actor's module failed");
      },
    );
  }

  fetch(request) {
    return this.callActor((actor) => actor.fetch(request));
  }

  alarm() {
    return this.callActor((actor) => actor.alarm());
  }
}
