"""How the language server ends: with the exit status of the protocol, and in silence."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytest.importorskip("pygls")


def message(method: str, number: int | None = None, params: object = None) -> bytes:
    content = {"jsonrpc": "2.0", "method": method}
    content |= {"id": number} if number is not None else {}
    body = json.dumps(content if params is None else content | {"params": params}).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


BEGIN = message("initialize", 1, {"capabilities": {}}) + message("initialized", params={})
SHUTDOWN, EXIT = message("shutdown", 2), message("exit")


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (BEGIN + SHUTDOWN + EXIT, 0),
        (BEGIN + EXIT, 1),  # the client did not say that it would
        (BEGIN + SHUTDOWN, 0),
        (BEGIN, 0),
        (b"", 0),
        (EXIT, 1),
    ],
    ids=["ends", "not announced", "vanishes at its end", "vanishes", "never speaks", "only ends"],
)
def test_the_server_ends_with_the_status_of_the_protocol_and_says_nothing(tmp_path, sent, status):
    done = subprocess.run(
        [sys.executable, "-m", "syncscan", "server"],
        input=sent, capture_output=True, cwd=tmp_path, timeout=120, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr.decode()) == (status, "")
