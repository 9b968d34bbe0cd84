// The npm packages hono-rate-limiter and @hono-rate-limiter/cloudflare, put together as their documentation has it: a
// Durable Object per address that stores its count with each request.
import { DurableObjectRateLimiter, DurableObjectStore } from "@hono-rate-limiter/cloudflare";
import { Hono } from "hono";
import { rateLimiter } from "hono-rate-limiter";
import { forward } from "./passthrough.mjs";

const app = new Hono();
app.use((c, next) =>
  rateLimiter({
    windowMs: c.env.PERIOD * 1000,
    limit: c.env.LIMIT,
    standardHeaders: "draft-7",
    keyGenerator: (c) => c.req.header("cf-connecting-ip") ?? "",
    store: new DurableObjectStore({ namespace: c.env.CACHE }),
  })(c, next),
);
app.all("*", (c) => forward(c.req.raw, c.env));

export { DurableObjectRateLimiter };
export default app;
