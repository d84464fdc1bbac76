// @octokit/webhooks behind node:http: the signature is checked, the event parsed, and a handler does nothing.
import { createServer } from "node:http";
import { Webhooks, createNodeMiddleware } from "@octokit/webhooks";

const [port, secret] = process.argv.slice(2);
const webhooks = new Webhooks({ secret });
webhooks.on("pull_request.closed", () => {});
createServer(createNodeMiddleware(webhooks, { path: "/webhook" })).listen(Number(port), "127.0.0.1");
