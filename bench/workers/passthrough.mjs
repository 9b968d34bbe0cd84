// The least that a Worker in JavaScript can do: every request goes on, and the answer comes back as it is.
export default {
  fetch(request, env) {
    return forward(request, env);
  },
};

/** Sends a request on to the origin, as it is. */
export function forward(request, env) {
  const { pathname, search } = new URL(request.url);
  return fetch(env.ORIGIN + pathname + search, request);
}

/** What the limiters that we wrote say to a caller who is refused. */
export function refusal() {
  return new Response("Too many requests.", { status: 429, headers: { "retry-after": "60" } });
}
