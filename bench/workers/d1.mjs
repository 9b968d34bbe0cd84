// A counter for each address and window in D1, one upsert per request.
import { forward, refusal } from "./passthrough.mjs";

const UPSERT = `INSERT INTO hits (caller, window, count) VALUES (?1, ?2, 1)
  ON CONFLICT DO UPDATE SET count = count + 1 RETURNING count`;

export default {
  async fetch(request, env) {
    const window = Math.floor(Date.now() / 1000 / env.PERIOD);
    const count = await env.DB.prepare(UPSERT).bind(request.headers.get("cf-connecting-ip"), window).first("count");
    return count > env.LIMIT ? refusal() : forward(request, env);
  },
};
