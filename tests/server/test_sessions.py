"""The language server under drawn sessions of an editor: what it shows is what the command finds, and it ends with status 0."""

from __future__ import annotations

import ast
import contextlib
import itertools
import json
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

pytest.importorskip("pygls")

PATIENCE = 120  # seconds; what takes longer hangs
NAMES = ["a.py", "b.py", "c.py"]
NAME = st.sampled_from(NAMES)
PIECES = [
    "import torch",
    'x = torch.zeros(8, device="cuda")',
    "x = torch.zeros(8)",
    "n = x.sum().item()",
    "def f(t):\n    return t.tolist()",
    "f(x)",
    "from a import x",
    "from b import f, x",
    "from c import *",
    'k = "😀名"; m = x.max().item()',
    "if x.any():\n    pass",
    "名 = [x, (",
    "# 😀",
    "",
]
BEGINNINGS = [
    'import torch\nx = torch.zeros(8, device="cuda")',
    "import torch\nfrom a import x\nfrom b import f",
    "import torch\nfrom c import x",
    "",
]
LINES = st.builds(
    lambda begin, lines: [begin, *lines],
    st.sampled_from(BEGINNINGS),
    st.lists(st.sampled_from(PIECES), max_size=8),
)
TEXT = st.builds(
    lambda lines, end: end.join("\n".join(lines).split("\n")) + end, LINES, st.sampled_from(["\n", "\r\n"])
)
CODES = {"cancelled": -32800, "unknown": -32601}


class Client:
    """A client that speaks the protocol in bytes, so that it can speak it wrongly too."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "syncscan", "server"]
        self.process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.numbers = itertools.count(1)
        self.told: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()
        self.asked("initialize", {"capabilities": {}, "rootUri": folder.as_uri(), "processId": None})
        self.tell("initialized", {})

    def send(self, body: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def tell(self, method: str, params: object, **more: object) -> None:
        self.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode())

    def asked(self, method: str, params: object) -> dict[str, Any]:
        """The answer to a request."""
        number = next(self.numbers)
        self.tell(method, params, id=number)
        return self.awaited(lambda message: message.get("id") == number)

    def awaited(self, is_it) -> dict[str, Any]:
        while True:
            message = self.told.get(timeout=PATIENCE)
            assert message is not None, "the server has ended"
            assert "syncscan" not in message.get("params", {}).get("message", ""), message
            if is_it(message):
                return message

    def _read(self) -> None:
        out = self.process.stdout
        assert out is not None
        while header := out.readline():
            if header.lower().startswith(b"content-length:"):
                length = int(header.partition(b":")[2])
                while out.readline().strip():
                    """Other headers."""
                self.told.put(json.loads(out.read(length)))
        self.told.put(None)


def position(text: str, offset: int) -> dict[str, int]:
    """Where an offset is as the protocol counts: lines, and columns in UTF-16 units."""
    before = text[:offset]
    start = before.rfind("\n") + 1
    return {"line": before.count("\n"), "character": len(before[start:].encode("utf-16-le")) // 2}


def parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


class Editor(RuleBasedStateMachine):
    """A session: files on the disk, files that are open, and the server that follows both."""

    folder: Path
    syncscan: Any
    sessions = itertools.count()

    @initialize(texts=st.lists(TEXT, min_size=3, max_size=3))
    def begin(self, texts: list[str]) -> None:
        number = next(Editor.sessions)
        self.root, self.mirror = (self.folder / f"{kind}{number}" for kind in ("edited", "expected"))
        for folder in (self.root, self.mirror):
            folder.mkdir()
            (folder / "pyproject.toml").touch()
        self.disk = dict(zip(NAMES, texts, strict=True))
        for name, text in self.disk.items():
            (self.root / name).write_bytes(text.encode())
        self.texts: dict[str, str] = {}  # as the editor holds them
        self.valid: dict[str, str] = {}  # what the others see of a file that is open
        self.versions: dict[str, int] = {}
        self.client = Client(self.root)
        self.shows("a.py")

    def uri(self, name: str) -> str:
        return (self.root / name).resolve().as_uri()

    def changed(self, name: str, *changes: dict[str, object]) -> None:
        self.versions[name] += 1
        document = {"uri": self.uri(name), "version": self.versions[name]}
        self.client.tell("textDocument/didChange", {"textDocument": document, "contentChanges": [*changes]})

    def shows(self, name: str) -> None:
        """The editor opens a file."""
        self.texts[name] = self.valid[name] = self.disk[name]
        self.versions[name] = 1
        document = {"uri": self.uri(name), "languageId": "python", "version": 1, "text": self.texts[name]}
        self.client.tell("textDocument/didOpen", {"textDocument": document})
        self.agrees(name)

    def any_open(self, data: st.DataObject) -> str:
        return data.draw(st.sampled_from(sorted(self.texts)), label="file")

    @precondition(lambda self: self.disk.keys() - self.texts.keys())
    @rule(data=st.data())
    def opens(self, data: st.DataObject) -> None:
        self.shows(data.draw(st.sampled_from(sorted(self.disk.keys() - self.texts.keys())), label="file"))

    @precondition(lambda self: len(self.texts) > 1)
    @rule(data=st.data())
    def closes(self, data: st.DataObject) -> None:
        name = self.any_open(data)
        del self.texts[name], self.valid[name]
        self.client.tell("textDocument/didClose", {"textDocument": {"uri": self.uri(name)}})
        gone = self.client.awaited(
            lambda m: m.get("params", {}).get("diagnostics") == [] and "version" not in m["params"]
        )
        assert gone["params"]["uri"] == self.uri(name)
        self.looks(min(self.texts))

    @rule(data=st.data(), text=TEXT)
    def writes_anew(self, data: st.DataObject, text: str) -> None:
        name = self.any_open(data)
        self.texts[name] = text
        self.changed(name, {"text": text})
        self.agrees(name)

    @rule(data=st.data())
    def edits(self, data: st.DataObject) -> None:
        """Several changes of ranges in one message, each in terms of the text that the one before left."""
        name, changes = self.any_open(data), []
        for _ in range(data.draw(st.integers(1, 3))):
            text = self.texts[name]
            places = [n for n in range(len(text) + 1) if text[n - 1 : n + 1] != "\r\n"]
            ends = [n for n in places if text[n : n + 1] in {"\r", "\n"}] or places
            start, end = sorted(data.draw(st.sampled_from(ends) | st.sampled_from(places)) for _ in range(2))
            new = data.draw(
                st.sampled_from([*PIECES, *(f"\n{piece}" for piece in PIECES), "\r\n", '"', "😀"])
            )
            where = {"start": position(text, start), "end": position(text, end)}
            changes.append({"range": where, "text": new})
            self.texts[name] = text[:start] + new + text[end:]
        self.changed(name, *changes)
        self.agrees(name)

    @rule(data=st.data())
    def types_no_change(self, data: st.DataObject) -> None:
        """What another file has become in the meantime is seen at the next change."""
        self.looks(self.any_open(data))

    def looks(self, name: str) -> None:
        start = {"line": 0, "character": 0}
        self.changed(name, {"range": {"start": start, "end": start}, "text": ""})
        self.agrees(name)

    @rule(data=st.data())
    def saves(self, data: st.DataObject) -> None:
        name = self.any_open(data)
        self.disk[name] = self.texts[name]
        (self.root / name).write_bytes(self.disk[name].encode())
        self.client.tell("textDocument/didSave", {"textDocument": {"uri": self.uri(name)}})
        self.looks(name)

    @precondition(lambda self: self.disk.keys() - self.texts.keys())
    @rule(data=st.data(), other=NAME)
    def renames(self, data: st.DataObject, other: str) -> None:
        """As editors do: the document was closed, and is opened by its new name."""
        name = data.draw(st.sampled_from(sorted(self.disk.keys() - self.texts.keys())), label="file")
        if other not in self.texts:
            self.disk[other] = self.disk.pop(name)
            (self.root / name).rename(self.root / other)
            self.shows(other)

    @rule(data=st.data())
    def points(self, data: st.DataObject) -> None:
        """Questions about any place have an answer."""
        name = self.any_open(data)
        place = position(self.texts[name], data.draw(st.integers(0, len(self.texts[name]))))
        about = {"textDocument": {"uri": self.uri(name)}}
        assert "error" not in self.client.asked("textDocument/hover", about | {"position": place})
        where = {"range": {"start": place, "end": place}, "context": {"diagnostics": []}}
        assert "error" not in self.client.asked("textDocument/codeAction", about | where)

    @rule(number=st.integers(-3, 10**6) | st.text(max_size=3))
    def cancels(self, number: int | str) -> None:
        self.client.tell("$/cancelRequest", {"id": number})

    @rule(
        body=st.sampled_from(
            [
                b"{",
                b"[]",
                b"null",
                b"\xff\xfe",
                b'{"jsonrpc": "2.0"}',
                b'{"jsonrpc": "2.0", "id": 9999999, "method": "textDocument/hover", "params": 3}',
            ]
        )
    )
    def talks_nonsense(self, body: bytes) -> None:
        self.client.send(body)

    @rule()
    def asks_for_what_nobody_has(self) -> None:
        assert self.client.asked("syncscan/unheardOf", {})["error"]["code"] == CODES["unknown"]

    @rule(size=st.sampled_from([10**4, 10**6]))
    def pastes_much(self, size: int) -> None:
        name = min(self.texts)
        self.texts[name] = "import torch\nn = torch.zeros(8, device='cuda').sum().item()\n#" + "😀" * (
            size // 4
        )
        self.changed(name, {"text": self.texts[name]})
        self.agrees(name)

    def agrees(self, name: str) -> None:
        """What is shown of the newest text is what the command finds where all files are as the editor has them."""
        if not parses(self.texts[name]):
            return
        self.valid[name] = self.texts[name]
        version = self.versions[name]
        about = {"uri": self.uri(name), "version": version}
        shown = self.client.awaited(lambda m: about.items() <= m.get("params", {}).items())["params"][
            "diagnostics"
        ]
        seen = self.disk | self.valid
        for path in self.mirror.glob("*.py"):
            path.unlink()
        for each, text in seen.items():
            (self.mirror / each).write_bytes(text.encode())
        run = self.syncscan("check", self.mirror / name, "--output-format", "json")
        assert run.status in {0, 1}, run.stderr
        text = self.texts[name]
        rows = text.split("\n")
        found = [
            (f["code"], f["line"] - 1, len(rows[f["line"] - 1][: f["column"] - 1].encode("utf-16-le")) // 2)
            for f in json.loads(run.stdout)["findings"]
        ]
        said = [(d["code"], *(d["range"]["start"][key] for key in ("line", "character"))) for d in shown]
        assert said == found, (name, seen)

    def teardown(self) -> None:
        if not hasattr(self, "client"):
            return
        process = self.client.process
        try:
            if process.poll() is None:
                assert "error" not in self.client.asked("shutdown", None)
                self.client.tell("exit", None)
            assert process.wait(PATIENCE) == 0
        finally:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                with contextlib.suppress(BrokenPipeError):
                    stream.close()


@pytest.mark.parametrize(
    ("sessions", "steps"), [(5, 12), pytest.param(25, 40, marks=pytest.mark.long)], ids=["few", "many"]
)
def test_what_the_server_shows_is_what_the_command_finds(syncscan, tmp_path, sessions, steps):
    class Session(Editor):
        folder = tmp_path

        def syncscan(self, *arguments):
            return syncscan(*arguments)

    # `Editor.agrees` asserts after each step, and `Editor.teardown` at the end.
    run_state_machine_as_test(
        Session,
        settings=settings(
            max_examples=sessions,
            stateful_step_count=steps,
            deadline=None,
            phases=[Phase.generate],  # a failure is reported as it was drawn: each session starts a server
            suppress_health_check=list(HealthCheck),
        ),
    )
