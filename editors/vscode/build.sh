#!/usr/bin/env bash
# Builds the extension, tries its messages with the real server, and packages it: dist/syncscan.vsix.
# Needs node 20, npm, and a syncscan with the extra `lsp`, which SYNCSCAN names ("path/to/syncscan server").
set -euo pipefail
cd "$(dirname "$0")"
npm ci
npm test
npm run package
