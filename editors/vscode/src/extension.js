// Starts `syncscan server` and connects the editor to it. All else is in the server.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

// What the server takes as its settings: those of [tool.syncscan], and `enable`.
function settings() {
  const ours = vscode.workspace.getConfiguration("syncscan");
  return { enable: ours.get("enable"), ...ours.get("settings") };
}

async function start() {
  const [command, ...args] = vscode.workspace.getConfiguration("syncscan").get("command");
  client = new LanguageClient(
    "syncscan",
    "syncscan",
    { command, args },
    {
      documentSelector: [{ scheme: "file", language: "python" }],
      initializationOptions: settings(),
    },
  );
  try {
    await client.start();
  } catch (error) {
    const hint = `install it with pip install "syncscan[lsp]", or set syncscan.command`;
    vscode.window.showErrorMessage(`syncscan: ${command} does not start: ${error.message}; ${hint}`);
  }
}

async function restart() {
  await client?.stop().catch(() => undefined);
  await start();
}

async function changed(event) {
  if (event.affectsConfiguration("syncscan.command")) await restart();
  else if (event.affectsConfiguration("syncscan")) {
    await client?.sendNotification("workspace/didChangeConfiguration", { settings: { syncscan: settings() } });
  }
}

exports.activate = async (context) => {
  context.subscriptions.push(
    vscode.commands.registerCommand("syncscan.restart", restart),
    vscode.workspace.onDidChangeConfiguration(changed),
  );
  await start();
};

exports.deactivate = () => client?.stop();
