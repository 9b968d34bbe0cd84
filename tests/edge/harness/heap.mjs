// Memory that the runtime's isolates keep once their garbage is collected, by its inspector.
import { once } from "node:events";
import WebSocket from "ws";

/**
 * Collects the garbage of the Workers' isolates, or of `all` isolates, D1's included. The inspector
 * listens at `url`.
 *
 * @returns how many bytes the Workers' isolates keep, the memory of their modules included
 */
export async function collect(url, all) {
  const listed = new URL("/json", url);
  listed.protocol = "http:";
  const isolates = await (await fetch(listed)).json();
  const keeps = async ({ id, webSocketDebuggerUrl }) => {
    const ours = id.startsWith("core:user:");
    const kept = ours || all ? size(await snapshot(webSocketDebuggerUrl)) : 0;
    return ours ? kept : 0;
  };
  return (await Promise.all(isolates.map(keeps))).reduce((sum, bytes) => sum + bytes, 0);
}

/**
 * A snapshot of the heap. Taking one collects all garbage at once; the inspector's own command for
 * that waits for the isolate's next request.
 */
async function snapshot(url) {
  const socket = new WebSocket(url, { maxPayload: 0 });
  try {
    await once(socket, "open");
    const chunks = [];
    await new Promise((resolve, reject) => {
      socket.on("error", reject).on("message", (text) => {
        const { id, error, params } = JSON.parse(text);
        if (error) reject(new Error(error.message));
        else if (id) resolve();
        else if (params.chunk) chunks.push(params.chunk);
      });
      socket.send(JSON.stringify({ id: 1, method: "HeapProfiler.takeHeapSnapshot" }));
    });
    return JSON.parse(chunks.join(""));
  } finally {
    socket.terminate();
  }
}

function size({ nodes, snapshot }) {
  const fields = snapshot.meta.node_fields;
  let sum = 0;
  for (let at = fields.indexOf("self_size"); at < nodes.length; at += fields.length) sum += nodes[at];
  return sum;
}
