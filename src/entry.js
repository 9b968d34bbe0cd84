// What the runtime calls, around the module: it takes the place of worker-build's own, which wraps each request in proxies.
//
// A panic (or an exception that passes through the module's code) leaves the instance in no state to go on, and whoever waits in it without an
// answer for ever. So the next to come gets a new instance, and those who wait in the old one are answered here.
import * as module from "./index.js";

const state = module.__worker_init_state();

/** What lets those go who wait in this instance, and what they are told. Whoever has left is never done: so it is not held here. */
const waiting = new Set();
const GONE = Symbol("gone");

/** How many of them are looked through for those who have left; ever more, as long as most are still there. */
let crowd = 1_000;

/** What is said where a new instance fails as well: as `limiter_unavailable` in the module. */
const PROBLEM = {
  type: "about:blank",
  title: "Service unavailable",
  status: 503,
  reason: "limiter_unavailable",
  retry_after: 1,
  detail: "The rate limiter failed while it worked on this request. Try again in 1 second.",
};

function unavailable({ CORS_ORIGINS }) {
  const headers = { "Content-Type": "application/problem+json", "Cache-Control": "no-store", "Retry-After": "1" };
  // Where nothing else is said, any page may read it.
  if (CORS_ORIGINS == null) Object.assign(headers, { "Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "Retry-After" });
  const retry_at = `${new Date(Date.now() + 1_999).toISOString().slice(0, 19)}Z`;
  return new Response(JSON.stringify({ ...PROBLEM, retry_at }), { status: 503, headers });
}

function renewed() {
  if (!state.criticalError) return;
  console.error(JSON.stringify({ event: "warning", place: "module", problem: "it failed, and begins anew" }));
  module.__wbg_reset_state();
  state.criticalError = false;
  state.instanceId += 1;
}

/** The instance is at its end. */
function end() {
  state.criticalError = true;
  for (const go of waiting) go.deref()?.();
  waiting.clear();
}

/** Looks whether an error is the end of the instance. */
function judge(error) {
  if (error instanceof WebAssembly.RuntimeError || state.criticalError) end();
}

addEventListener("error", ({ error }) => judge(error));
addEventListener("unhandledrejection", ({ reason }) => judge(reason));

// The module's futures are run from here. The runtime's own makes a function object of each call, which costs more than a decision.
const settled = Promise.resolve();
globalThis.queueMicrotask = (work) => {
  settled.then(() => {
    try {
      work();
    } catch {
      // A future of Rust's has no errors but this kind.
      end();
    }
  });
};

/** What `work` comes to in this instance, at once or as a promise, and `then` after it; or what `gone` gives, where the instance fails. */
function within(work, gone, then = (value) => value) {
  renewed();
  try {
    const answer = work();
    return answer instanceof Promise ? guarded(answer, gone, then) : then(answer);
  } catch {
    // What an answer can fail with is in a promise, so this has come through the module's code.
    end();
    return gone();
  }
}

/** Keeps what lets one go. */
function keep(go) {
  const kept = new WeakRef(go);
  waiting.add(kept);
  if (waiting.size > crowd) {
    for (const other of waiting) if (!other.deref()) waiting.delete(other);
    crowd = Math.max(1_000, 2 * waiting.size);
  }
  return kept;
}

function guarded(answer, gone, then) {
  const first = new Promise((resolve, reject) => {
    const go = () => resolve(GONE);
    const kept = keep(go);
    answer.then(
      (value) => {
        waiting.delete(kept);
        resolve(value);
      },
      (error) => {
        waiting.delete(kept);
        judge(error);
        if (state.criticalError) go();
        else reject(error);
      },
    );
  });
  // Whose request it is says what it is told: another's may be running when it is let go.
  return first.then((value) => (value === GONE ? gone() : then(value)));
}

// What keeps the places of requests under way outlives the instance that let them in.
const anew = (work) => (...given) => within(() => work(...given), () => {});
module.drive(anew(module.beat), anew(module.leave));

export default {
  fetch(request, env, context) {
    // Whoever reads it is answered as it reads, by the next instance: with what the origin's fetch threw, or for want of an answer from this one.
    const unanswered = (error) => within(() => module.unanswered(request, env, error), () => unavailable(env));
    const gone = () => unanswered();
    // What has gone on to the origin needs this instance no more, unless there is no answer.
    return within(() => module.fetch(request, env, context), gone, (answer) => answer.passed?.catch(unanswered) ?? answer);
  },
  async scheduled(event, env, context) {
    await within(() => module.scheduled(event, env, context), () => {});
  },
};

export class BucketActor {
  constructor(state, env) {
    Object.assign(this, { made: [state, env], instance: undefined, actor: undefined });
  }

  /** The actor in the instance of now. An older one's is of no use; its storage is. */
  in(call) {
    return within(
      () => {
        if (this.instance !== state.instanceId) {
          this.actor = new module.BucketActor(...this.made);
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
    return this.in((actor) => actor.fetch(request));
  }

  alarm() {
    return this.in((actor) => actor.alarm());
  }
}
