// The origin behind every variant, in a process of its own: a plain socket that answers each request head with the same
// bytes. It parses nothing, so that it is never what a measurement waits for.
import net from "node:net";

const BODY = JSON.stringify({ items: [1, 2, 3], page: 2 });
const ANSWER = Buffer.from(
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nCache-Control: private\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`,
);
const END = "\r\n\r\n";

const server = net.createServer({ noDelay: true }, (socket) => {
  socket.on("error", () => socket.destroy());
  let rest = "";
  socket.on("data", (chunk) => {
    const text = rest + chunk.toString("latin1");
    let from = 0;
    for (let end = text.indexOf(END); end >= 0; end = text.indexOf(END, from)) {
      from = end + END.length;
      socket.write(ANSWER);
    }
    rest = text.slice(from);
  });
});

server.listen(0, "127.0.0.1", () => process.send(`http://127.0.0.1:${server.address().port}`));
process.on("disconnect", () => process.exit());
