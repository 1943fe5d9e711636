// The messages that the extension's client exchanges with the real server, over standard input and output.
// SYNCSCAN names the command, such as "../../.venv/bin/syncscan server".
const test = require("node:test");
const assert = require("node:assert");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { spawn } = require("node:child_process");
const { pathToFileURL } = require("node:url");
const rpc = require("vscode-jsonrpc/node");

const SOURCE = 'import torch\n\nx = torch.zeros(8, device="cuda")\nn = x.sum().item()\n';

test("a finding reaches the editor, and the server ends when it is told to", async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "syncscan-"));
  const file = path.join(folder, "a.py");
  fs.writeFileSync(file, SOURCE);
  const [command, ...args] = (process.env.SYNCSCAN ?? "syncscan server").split(" ");
  const server = spawn(command, args, { cwd: folder, stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((done) => server.on("exit", done));
  const connection = rpc.createMessageConnection(
    new rpc.StreamMessageReader(server.stdout),
    new rpc.StreamMessageWriter(server.stdin),
  );
  const published = new Promise((done) => connection.onNotification("textDocument/publishDiagnostics", done));
  connection.onRequest("window/workDoneProgress/create", () => null);
  connection.listen();
  const root = pathToFileURL(folder).href;
  const uri = pathToFileURL(file).href;
  const { capabilities } = await connection.sendRequest("initialize", {
    processId: process.pid,
    rootUri: root,
    capabilities: {},
    initializationOptions: { enable: true, select: ["SYN1"] },
  });
  assert.ok(capabilities.hoverProvider && capabilities.codeActionProvider);
  await connection.sendNotification("initialized", {});
  await connection.sendNotification("textDocument/didOpen", {
    textDocument: { uri, languageId: "python", version: 1, text: SOURCE },
  });
  const { diagnostics } = await published;
  assert.deepStrictEqual(diagnostics.map((each) => each.code), ["SYN101"]);
  const hover = await connection.sendRequest("textDocument/hover", {
    textDocument: { uri },
    position: { line: 3, character: 6 },
  });
  assert.match(hover.contents.value, /SYN101/);
  await connection.sendRequest("shutdown");
  await connection.sendNotification("exit");
  await ended;
  connection.dispose();
});
