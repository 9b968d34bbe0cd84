// One Durable Object per address, a counter for each window in its SQLite, written with each request, so that nothing is
// lost when the object is evicted.
import { DurableObject } from "cloudflare:workers";
import { forward, refusal } from "./passthrough.mjs";

export class Window extends DurableObject {
  constructor(ctx, env) {
    super(ctx, env);
    ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS hits (window INTEGER PRIMARY KEY, count INTEGER NOT NULL)");
  }

  /** How many requests there have been in this window, this one included. */
  take() {
    const window = Math.floor(Date.now() / 1000 / this.env.PERIOD);
    const upsert = "INSERT INTO hits VALUES (?, 1) ON CONFLICT DO UPDATE SET count = count + 1 RETURNING count";
    return this.ctx.storage.sql.exec(upsert, window).one().count;
  }
}

export default {
  async fetch(request, env) {
    const stub = env.WINDOWS.getByName(request.headers.get("cf-connecting-ip"));
    return (await stub.take()) > env.LIMIT ? refusal() : forward(request, env);
  },
};
