// Counts what a variant's Worker makes the platform do, where it is billed: calls into Durable
// Objects, statements to D1, and rows written by both. Put around a Worker for a counting run only;
// no figure of speed comes from such a run.

export const counts = { actors: 0, d1: 0, rows: 0, rowsRead: 0, alarms: 0 };

/**
 * Cursors whose rows have not been added up yet: a cursor knows how many it wrote once it has been
 * read.
 */
const cursors = [];

/** Adds up the rows of the cursors so far. */
export function settle() {
  for (const cursor of cursors.splice(0)) {
    counts.rows += cursor.rowsWritten;
    counts.rowsRead += cursor.rowsRead;
  }
}

/** Replaces a method of a prototype, once for the whole isolate and each `mark`. */
export function patch(prototype, name, replace, mark = "counted") {
  const real = prototype?.[name];
  if (typeof real !== "function" || real[mark]) return;
  prototype[name] = Object.assign(replace(real), real, { [mark]: true });
}

function watchStorage(storage) {
  patch(Object.getPrototypeOf(storage.sql), "exec", (exec) =>
    function (...args) {
      const cursor = exec.apply(this, args);
      if (cursors.length >= 1000) settle();
      cursors.push(cursor);
      return cursor;
    },
  );
  const row = (real) =>
    function (...args) {
      counts.rows += 1;
      return real.apply(this, args);
    };
  for (const name of ["put", "delete", "setAlarm"]) patch(Object.getPrototypeOf(storage), name, row);
}

function watchDatabase(database) {
  patch(Object.getPrototypeOf(database.withSession()), "_send", (send) =>
    async function (endpoint, query, ...rest) {
      counts.d1 += Array.isArray(query) ? query.length : 1;
      const answer = await send.call(this, endpoint, query, ...rest);
      for (const { meta } of [answer].flat()) {
        counts.rows += meta?.rows_written ?? 0;
        counts.rowsRead += meta?.rows_read ?? 0;
      }
      return answer;
    },
  );
}

/** The objects that were ever started, by id. */
const ids = new Set();

/** A Durable Object's class, its `calls` (the methods that are called from outside) counted. */
export function watchObject(Built, calls) {
  for (const name of calls) {
    patch(Built.prototype, name, (real) =>
      function (...args) {
        counts.actors += 1;
        if (name === "alarm") counts.alarms += 1;
        return real.apply(this, args);
      },
    );
  }
  return class extends Built {
    #sql;

    constructor(ctx, env) {
      watchStorage(ctx.storage);
      if (env.DB) watchDatabase(env.DB);
      super(ctx, env);
      ids.add(ctx.id.toString());
      this.#sql = ctx.storage.sql;
    }

    fetch(request) {
      return request.url.endsWith("/rows") ? new Response(rowsLeft(this.#sql)) : super.fetch(request);
    }
  };
}

/** How many rows there are in all tables of an object. */
function rowsLeft(sql) {
  const names = [...sql.exec("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\'")];
  return names.reduce((sum, { name }) => sum + sql.exec(`SELECT count(*) AS n FROM "${name}"`).one().n, 0);
}

async function rowsInAll(namespace) {
  const rows = [...ids].map(async (id) => Number(await (await namespace.get(namespace.idFromString(id)).fetch("http://object/rows")).text()));
  return (await Promise.all(rows)).reduce((sum, n) => sum + n, 0);
}

/**
 * A Worker's handler, answering `/counts` itself, and `/rows`: how many rows the objects of its
 * binding `BUCKETS` hold.
 */
export function watchWorker(built) {
  const serve =
    typeof built === "function" ? (request, env, ctx) => new built(ctx, env).fetch(request) : (...args) => built.fetch(...args);
  return {
    fetch(request, env, ctx) {
      if (env.DB) watchDatabase(env.DB);
      switch (new URL(request.url).pathname) {
        case "/counts":
          settle();
          return Response.json(counts);
        case "/rows":
          return rowsInAll(env.BUCKETS).then((rows) => new Response(rows));
        default:
          return serve(request, env, ctx);
      }
    },
  };
}
