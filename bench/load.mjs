// The callers, in a process of their own: keep-alive connections with one request under way on each. Every answer's status
// and latency is counted, latencies also by status.
//
// An order is `{ targets, head, connections, ms, requests, rate, addresses }`: connections are spread over the targets. Without a
// `rate` each connection sends its next request when it has its answer; with one (per second), requests start on time
// whatever the answers do, and `connections` is the most there may be. It ends after `ms` or `requests`, whichever is first.
import net from "node:net";

class Connection {
  #socket;
  #received = "";
  #sent = 0;

  constructor(target, answered, failed) {
    this.#socket = net.connect({ host: target.host, port: target.port, noDelay: true });
    this.ready = new Promise((resolve) => this.#socket.once("connect", resolve));
    this.#socket.on("error", failed);
    this.#socket.on("close", () => failed(new Error("the connection was closed")));
    this.#socket.on("data", (chunk) => {
      this.#received += chunk.toString("latin1");
      if (!whole(this.#received)) return;
      const status = Number(this.#received.slice(9, 12));
      const latency = performance.now() - this.#sent;
      this.#received = "";
      answered(this, status, latency);
    });
  }

  send(bytes) {
    this.#sent = performance.now();
    this.#socket.write(bytes, "latin1");
  }

  close() {
    this.#socket.removeAllListeners();
    this.#socket.on("error", () => {});
    this.#socket.destroy();
  }
}

/** Whether these bytes are a whole answer. */
function whole(text) {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return false;
  const length = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, end + 2));
  return length ? text.length >= end + 4 + Number(length[1]) : text.endsWith("0\r\n\r\n");
}

/** `head` with the address of the n-th caller in place of its own. */
function from(head, n) {
  const address = `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
  return head.replace(/(CF-Connecting-IP: )\S+/, `$1${address}`);
}

async function run({ targets, head, connections, ms = Infinity, requests = Infinity, rate, addresses = false }) {
  const statuses = {};
  const passed = []; // answers with 200, by the second in which they came
  const latencies = [];
  const by = {};
  let sent = 0;
  let begun;
  const { promise: done, resolve, reject } = Promise.withResolvers();
  const over = () => sent >= requests || performance.now() - begun >= ms;
  const next = () => (addresses ? from(head, sent++) : (sent++, head));

  const idle = [];
  const answered = (connection, status, latency) => {
    statuses[status] = (statuses[status] ?? 0) + 1;
    latencies.push(latency);
    (by[status] ??= []).push(latency);
    if (status === 200) {
      const second = Math.floor((performance.now() - begun) / 1000);
      passed[second] = (passed[second] ?? 0) + 1;
    }
    if (rate) idle.push(connection);
    else if (!over()) return connection.send(next());
    if (over() && latencies.length === sent) resolve();
  };
  const open = Array.from({ length: connections }, (_, index) => new Connection(targets[index % targets.length], answered, reject));
  await Promise.all(open.map(({ ready }) => ready));

  begun = performance.now();
  if (rate) {
    idle.push(...open);
    while (!over()) {
      const due = Math.min(requests, ((performance.now() - begun) * rate) / 1000 + 1);
      while (sent < due && sent < requests && idle.length > 0) idle.shift().send(next());
      await new Promise((tick) => setTimeout(tick, 1));
    }
    if (latencies.length === sent) resolve();
  } else {
    for (const connection of open) if (!over()) connection.send(next());
  }
  await done;
  const elapsed = performance.now() - begun;
  open.forEach((connection) => connection.close());
  const quantiles = (all) => {
    all.sort((a, b) => a - b);
    const at = (share) => all[Math.min(all.length - 1, Math.floor(all.length * share))];
    return { p50: at(0.5), p99: at(0.99) };
  };
  const byStatus = Object.fromEntries(Object.entries(by).map(([status, all]) => [status, quantiles(all)]));
  return { requests: latencies.length, statuses, passed: Array.from(passed, (n) => n ?? 0), seconds: elapsed / 1000, ...quantiles(latencies), byStatus };
}

process.on("message", async (order) => {
  try {
    process.send({ done: await run(order) });
  } catch (error) {
    process.send({ error: error.stack });
  }
});
process.on("disconnect", () => process.exit());
