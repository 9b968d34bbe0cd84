// An origin in a process of its own that takes the same time for each answer, and counts: how many it has answered, how many
// it had under way at the most, and how long each really took.
import http from "node:http";

const BODY = "x".repeat(1_000);
let counts = { answered: 0, most: 0, ms: 0 };
let under = 0;

process.once("message", ({ ms }) => {
  const server = http.createServer((request, response) => {
    const begun = performance.now();
    counts.most = Math.max(counts.most, ++under);
    response.on("close", () => {
      under--;
      counts.answered++;
      counts.ms += performance.now() - begun;
    });
    setTimeout(() => response.writeHead(200, { "content-type": "text/plain", "content-length": BODY.length }).end(BODY), ms);
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1", () => process.send(`http://127.0.0.1:${server.address().port}`));
  process.on("message", () => {
    process.send(counts);
    counts = { answered: 0, most: under, ms: 0 };
  });
});
process.on("disconnect", () => process.exit());
