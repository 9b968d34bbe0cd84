// The runtime's entry module: the built Worker as it is, with a clock to turn, faults to order, and
// a look inside its Durable Objects. A request with the token is for this module; any other is the
// Worker's.
import { clock } from "./clock.mjs";
import { token } from "./start.mjs";
import { asked, faults, meet, met, names, note, watchEnv, wrap } from "./faults.mjs";
import { WorkerEntrypoint } from "cloudflare:workers";
import built, { BucketActor as BuiltActor } from "../../../build/index.js";

const CONTROL = "edge-control";

/** Counts of each object that outlive its evictions: fetches, alarms run, alarms set. */
const happened = new Map();

export default class Entry extends WorkerEntrypoint {
  async fetch(request) {
    if (request.headers.get(CONTROL) !== token) return built.fetch(request, watchEnv(this.env), this.ctx);
    return Response.json((await this.control(await request.json())) ?? null);
  }

  scheduled(event) {
    return built.scheduled(event, watchEnv(this.env), this.ctx);
  }

  async control(order) {
    switch (order.op) {
      case "freeze":
        return clock.freeze(order.at);
      case "run":
        return clock.run(order.at);
      case "trip":
        return clock.trip(order.kind, order);
      case "faults":
        Object.assign(faults, order.faults);
        return met;
      case "asked":
        return asked;
      case "objects":
        return Object.fromEntries(names);
      case "object": {
        const id = this.env.BUCKETS.idFromString(order.id);
        const init = { method: "POST", headers: { [CONTROL]: token }, body: JSON.stringify(order.order) };
        return (await this.env.BUCKETS.get(id).fetch("http://object/", init)).json();
      }
      case "ask": {
        const headers = { "penstock-ask": order.question };
        const reply = await watchEnv(this.env).BUCKETS.getByName(order.name).fetch("http://object/", { headers });
        return reply.headers.get("penstock-reply");
      }
      case "scheduled":
        return await this.scheduled({ cron: order.cron, scheduledTime: order.at, noRetry() {} });
      default:
        throw new Error(`no such order: ${order.op}`);
    }
  }
}

export class BucketActor {
  constructor(ctx, env) {
    this.ctx = ctx;
    const id = ctx.id.toString();
    if (!happened.has(id)) happened.set(id, { fetches: 0, alarms: 0, alarmsSet: 0 });
    // Nothing that the actor is given may lead back to it. The built module holds those values, and
    // would keep an actor that is gone.
    const counts = happened.get(id);
    this.counts = counts;
    const sql = wrap(ctx.storage.sql, {
      exec: (statement, ...values) => {
        if (/^INSERT/.test(statement) && meet("disk")) throw new Error("database or disk is full: SQLITE_FULL");
        return ctx.storage.sql.exec(statement, ...values);
      },
    });
    const storage = wrap(ctx.storage, {
      sql,
      setAlarm: (...args) => {
        counts.alarmsSet += 1;
        return ctx.storage.setAlarm(...args);
      },
    });
    this.wake = () => new BuiltActor(wrap(ctx, { storage }), watchEnv(env));
    this.actor = this.wake();
    this.inside = 0;
  }

  async fetch(request) {
    if (request.headers.get(CONTROL) === token) {
      return Response.json((await this.control(await request.json())) ?? null);
    }
    this.counts.fetches += 1;
    // A call that finds the object idle finds it just woken up: its memory is gone.
    if (faults.actor?.kind === "evict" && this.inside === 0) {
      this.actor = this.wake();
      note(faults.actor);
    }
    this.inside += 1;
    try {
      return await this.actor.fetch(request);
    } finally {
      this.inside -= 1;
    }
  }

  alarm(info) {
    this.counts.alarms += 1;
    return this.actor.alarm(info);
  }

  async control(order) {
    switch (order.op) {
      case "look":
        return { ...this.counts, alarmAt: await this.ctx.storage.getAlarm(), tables: this.dump() };
      case "sql":
        return void this.ctx.storage.sql.exec(order.sql);
      case "alarm":
        return void (await this.alarm({ isRetry: false, retryCount: 0 }));
      case "crash":
        return this.ctx.abort("crashed to order");
      default:
        throw new Error(`no such order: ${order.op}`);
    }
  }

  dump() {
    const sql = this.ctx.storage.sql;
    const tables = [...sql.exec("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\'")];
    return Object.fromEntries(tables.map(({ name }) => [name, [...sql.exec(`SELECT * FROM "${name}"`)].map(printable)]));
  }
}

/** A row with its blobs as hexadecimal text. */
function printable(row) {
  const hex = (value) => [...new Uint8Array(value)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value instanceof ArrayBuffer ? hex(value) : value]));
}
