// Refuses everybody, asks nobody, and says as much as Penstock does.
import problem from "../passthrough/src/refusal.json";

const body = JSON.stringify(problem);
const headers = {
  "Content-Type": "application/problem+json",
  "Cache-Control": "no-store",
  "Vary": "Accept, Accept-Language, Origin",
  "Retry-After": "3600",
  "RateLimit-Policy": '"base/ip";q=1;w=3600',
  "RateLimit": '"base/ip";r=0;t=3600',
  "Penstock-Request-Id": problem.request_id,
};

export default {
  fetch: () => new Response(body, { status: 429, headers }),
};
