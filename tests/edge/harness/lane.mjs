// A raw connection that many requests go over, one at a time. A new one opens where the runtime
// hangs up.
import net from "node:net";
import { complete, parse } from "./client.mjs";

export class Lane {
  #url;
  #socket;

  constructor(url) {
    this.#url = url;
  }

  /** Sends these bytes and resolves to the answer. Ten seconds without one are an error. */
  async send(bytes, method) {
    const reused = this.#socket !== undefined;
    const answer = await this.#once(bytes, method);
    // The runtime may close an idle connection while a request is on its way: once more then.
    return answer.status === 0 && reused ? this.#once(bytes, method) : answer;
  }

  #once(bytes, method) {
    const socket = (this.#socket ??= net.connect({ host: this.#url.hostname, port: Number(this.#url.port), noDelay: true }));
    return new Promise((resolve, reject) => {
      let received = Buffer.alloc(0);
      const done = () => {
        for (const name of ["data", "close", "error", "timeout"]) socket.removeAllListeners(name);
        const answer = parse(received);
        if (socket.destroyed || /close/i.test(answer.headers.connection ?? "") || answer.status === 0 || answer.status === 400) this.close();
        resolve(answer);
      };
      socket.on("data", (chunk) => {
        received = Buffer.concat([received, chunk]);
        if (complete(received, method)) done();
      });
      socket.on("close", done);
      socket.on("error", done);
      socket.setTimeout(10_000, () => {
        this.close();
        reject(new Error(`no answer to ${JSON.stringify(bytes.toString("latin1", 0, 500))}`));
      });
      socket.write(bytes);
    });
  }

  close() {
    this.#socket?.on("error", () => {});
    this.#socket?.destroy();
    this.#socket = undefined;
  }
}
