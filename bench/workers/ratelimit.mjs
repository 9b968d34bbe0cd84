// The platform's `ratelimits` binding.
import { forward, refusal } from "./passthrough.mjs";

export default {
  async fetch(request, env) {
    const { success } = await env.LIMITER.limit({ key: request.headers.get("cf-connecting-ip") });
    return success ? forward(request, env) : refusal();
  },
};
