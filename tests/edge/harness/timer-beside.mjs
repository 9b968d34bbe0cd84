// A Worker in a runtime of its own, which only waits. It measures how late this machine is with a
// timer while another runtime is under test, and depends on no line of the Worker that is tested.
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from "miniflare";
import { send } from "./client.mjs";

const WORKER = `
  export default {
    async fetch(request) {
      const ms = Number(new URL(request.url).searchParams.get("ms"));
      const begun = Date.now();
      await scheduler.wait(ms);
      return new Response(String(Date.now() - begun - ms));
    },
  };
`;

/**
 * Starts the timer, and stops it after the test `t`.
 *
 * @returns a function that waits for `ms` there and resolves to how many milliseconds that was late
 */
export async function timerBeside(t) {
  const runtime = new Miniflare(
    convertV4MiniflareOptions({
      workers: [
        {
          name: "timer",
          modules: [{ type: "ESModule", path: "timer.mjs", contents: WORKER }],
          compatibilityDate: "2026-01-01",
          unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
        },
      ],
      log: new Log(LogLevel.NONE),
      cf: false,
      telemetry: { enabled: false },
    }),
  );
  t.after(() => runtime.dispose());
  await runtime.ready;
  const url = await runtime.unsafeGetDirectURL("timer");
  return async (ms) => Number((await send(url, { path: `/?ms=${ms}` })).text);
}
