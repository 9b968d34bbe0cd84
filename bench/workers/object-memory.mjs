// One Durable Object per address, its token bucket in memory: the shape of the platform documentation's own example
// ("Build a rate limiter"), with a call to the object for each request.
import { DurableObject } from "cloudflare:workers";
import { forward, refusal } from "./passthrough.mjs";

export class Bucket extends DurableObject {
  #tokens;
  #at = Date.now();

  /** Milliseconds until the caller may go on: 0 for now. */
  take() {
    const { LIMIT, PERIOD } = this.env;
    const now = Date.now();
    this.#tokens = Math.min(LIMIT, (this.#tokens ?? LIMIT) + ((now - this.#at) * LIMIT) / (PERIOD * 1000));
    this.#at = now;
    if (this.#tokens < 1) return ((1 - this.#tokens) * PERIOD * 1000) / LIMIT;
    this.#tokens -= 1;
    return 0;
  }
}

export default {
  async fetch(request, env) {
    const stub = env.BUCKETS.getByName(request.headers.get("cf-connecting-ip"));
    return (await stub.take()) > 0 ? refusal() : forward(request, env);
  },
};
