// The public side of an edge: https://shop.example, for a real browser.
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import https from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import chromium from "@sparticuz/chromium";
import { chromium as engine } from "playwright-core";

/** Where visitors find Penstock. */
export const PUBLIC = "https://shop.example";

/** Headers of one connection, which are not passed on; bodies are passed on decoded. */
const HOP = ["connection", "host", "transfer-encoding", "content-length", "content-encoding", "accept-encoding", "keep-alive"];

/**
 * Opens a browser for which `PUBLIC` is the edge. The Worker sees https, as it does in production:
 * the connection with the browser ends here.
 *
 * @returns `{ visit, close }`: `visit(options)` opens a tab, with Playwright's options for a context
 */
export async function openBrowser(edge) {
  const server = https.createServer(await certificate(), (request, response) => {
    pass(edge, request, response).catch((error) => response.destroy(error));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const rules = `--host-resolver-rules=MAP shop.example 127.0.0.1:${server.address().port}`;
  const browser = await engine.launch({ args: ["--no-sandbox", rules], executablePath: await chromium.executablePath() });
  return {
    visit: async (options) => (await browser.newContext({ ignoreHTTPSErrors: true, ...options })).newPage(),
    close: async () => {
      await browser.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Passes one request to the edge, and its answer back. */
async function pass(edge, request, response) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const headers = [["cf-connecting-ip", "203.0.113.7"]];
  for (const [name, value] of Object.entries(request.headers)) if (!HOP.includes(name)) headers.push([name, String(value)]);
  const body = chunks.length > 0 ? Buffer.concat(chunks) : undefined;
  const answer = await edge.dispatch(PUBLIC + request.url, { method: request.method, headers, body });
  const lines = [...answer.headers].filter(([name]) => name !== "set-cookie" && !HOP.includes(name));
  lines.push(...answer.headers.getSetCookie().map((line) => ["set-cookie", line]));
  response.writeHead(answer.status, lines.flat());
  response.end(Buffer.from(await answer.arrayBuffer()));
}

/** A certificate for the public host, which nobody else trusts, and its key. */
async function certificate() {
  const folder = await mkdtemp(join(tmpdir(), "penstock-front-"));
  try {
    const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
    const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
    const name = ["-subj", "/CN=shop.example", "-addext", "subjectAltName=DNS:shop.example"];
    execFileSync("openssl", ["req", "-x509", ...kind, ...name, "-keyout", key, "-out", cert], { stdio: "ignore" });
    return { key: await readFile(key), cert: await readFile(cert) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
