"""``syncscan server``: the language server, for editors."""

from __future__ import annotations

import os
import sys

import click

from syncscan.errors import SyncscanError


@click.command("server")
def command() -> int:
    """Speak the Language Server Protocol on standard input and output, for an editor.

    Shows findings as one types, with the evidence under the cursor, fixes and comments that ignore them.
    """
    try:
        from syncscan.server.server import make_server  # noqa: PLC0415 (needs the extra)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"pygls", "lsprotocol"}:
            raise
        raise SyncscanError("the server needs pygls: pip install 'syncscan[lsp]'") from error
    from syncscan.server.workspace import Workspace  # noqa: PLC0415 (as above)

    server = make_server(Workspace())
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as output:  # the server closes what it writes to
        server.start_io(stdout=output)
    return server.exit_status
