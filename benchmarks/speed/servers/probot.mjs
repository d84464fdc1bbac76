// Probot's own server with one handler that does nothing.
import { readFileSync } from "node:fs";
import { Probot, Server } from "probot";

const [port, secret, , data] = process.argv.slice(2);
const server = new Server({
  Probot: Probot.defaults({ appId: 1, privateKey: readFileSync(`${data}/key.pem`, "utf8"), secret, logLevel: "fatal" }),
  port: Number(port),
  host: "127.0.0.1",
  webhookPath: "/webhook",
});
await server.load((app) => app.on("pull_request.closed", () => {}));
await server.start();
