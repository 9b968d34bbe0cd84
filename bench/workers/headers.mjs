// A pass-through that adds what Penstock adds to every request and answer, and nothing else, so that its cost can be told apart: `THERE` a
// header on the way to the origin, `BACK` two on the way back.
export default {
  async fetch(request, { ORIGIN, THERE, BACK }) {
    const { pathname, search } = new URL(request.url);
    const outgoing = new Request(ORIGIN + pathname + search, request);
    if (THERE) outgoing.headers.append("penstock-hop", "0123456789abcdef0123456789abcdef");
    const answer = await fetch(outgoing);
    if (!BACK) return answer;
    const copy = new Response(answer.body, answer);
    copy.headers.set("RateLimit-Policy", '"base/ip";q=60000;w=1');
    copy.headers.set("RateLimit", '"base/ip";r=59999;t=1');
    return copy;
  },
};
