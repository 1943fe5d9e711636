"""What `syncscan server` takes from a key stroke to its diagnostics, and whether they stay those of a check.

    python -m benchmarks.server vllm==0.19.0 vllm/v1/worker/gpu_model_runner.py --edits 1000
    python -m benchmarks.server vllm==0.19.0:vllm/v1 vllm/v1/worker/gpu_model_runner.py --edits 1000 --compare 100

needs `pip install -e ".[bench,lsp]"`. A client of pygls's own talks to the server over standard input and output, as an editor does: it
opens the file and types statements into random functions, key by key, or changes it (`benchmarks.edits`). Times are what
the clock says from the change to the diagnostics of that version; of what is half typed nothing is said, and nothing awaited. After every
``--compare`` edits, and at the end, the diagnostics are compared with what a command that keeps nothing finds. It ends with status 1
where they differ.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from benchmarks import edits, releases

Shown = list[tuple[int, str]]
_BODIES = 0.9  # of the changes are of what functions do, and the others of what the file defines
_OTHERS = (edits.signature, edits.helper, edits.method, edits.attribute, edits.imported)
_PATIENCE = 600  # seconds; what takes longer hangs
_CAN = types.ClientCapabilities(window=types.WindowClientCapabilities(work_done_progress=True))


def main() -> None:
    """Print times, memory, and what differs."""
    options = parse_options()
    with tempfile.TemporaryDirectory() as scratch:
        root = releases.copied(options.name, options.sources, Path(scratch)).resolve()
        (root / "pyproject.toml").touch()
        sys.exit(asyncio.run(worked(root, options)))


def parse_options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", help="a release or a folder")
    parser.add_argument("file", help="the file to edit, from the top of the project")
    parser.add_argument("--sources", type=Path, default=releases.CACHE, help="where releases are kept")
    parser.add_argument("--edits", type=int, default=1000)
    parser.add_argument(
        "--compare", type=int, default=0, help="after how many edits to compare; 0: at the end"
    )
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


class Editor:
    """An editor with one file open."""

    def __init__(self, client: LanguageClient, path: Path) -> None:
        self.pid = 0
        self._client = client
        self._told: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()
        self._uri = path.as_uri()
        self._version = 1
        self.text = path.read_text(encoding="utf-8")
        self.times: list[float] = []
        self.processor: list[float] = []

        @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def told(params: types.PublishDiagnosticsParams) -> None:
            self._told.put_nowait(params)

        @client.feature(types.WINDOW_WORK_DONE_PROGRESS_CREATE)
        def create(_params: types.WorkDoneProgressCreateParams) -> None:
            """Show it."""

        @client.feature(types.PROGRESS)
        def progressed(_params: types.ProgressParams) -> None:
            """Show it."""

    def open(self) -> None:
        """Open the file."""
        item = types.TextDocumentItem(self._uri, types.LanguageKind.Python, 1, self.text)
        self._client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    async def change(self, text: str) -> Shown | None:
        """Make the text another one; what is said of it, where it is Python."""
        self._version += 1
        document = types.VersionedTextDocumentIdentifier(version=self._version, uri=self._uri)
        change = difference(self.text, text)
        self.text = text
        start, used = time.monotonic(), processor_seconds(self.pid)
        self._client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))
        if not edits.parses(text):
            await asyncio.sleep(0)
            return None
        shown = await self.shown()
        self.times.append(time.monotonic() - start)
        self.processor.append(processor_seconds(self.pid) - used)
        return shown

    async def shown(self) -> Shown:
        """What is said of the newest version."""
        while True:
            told = await asyncio.wait_for(self._told.get(), _PATIENCE)
            if told.version == self._version:
                return sorted((one.range.start.line + 1, str(one.code)) for one in told.diagnostics)


async def worked(root: Path, options: argparse.Namespace) -> bool:
    """Edit the file; whether anything differed."""
    client = LanguageClient("benchmark", "1")
    editor = Editor(client, root / options.file)
    await client.start_io(sys.executable, "-m", "syncscan", "server", cwd=root)
    process = client._server
    assert process is not None
    editor.pid = process.pid
    await client.initialize_async(types.InitializeParams(_CAN, root_uri=root.as_uri()))
    client.initialized(types.InitializedParams())
    print(f"started: {memory(process.pid)}")
    start = time.monotonic()
    editor.open()
    shown = await editor.shown()
    print(
        f"opened: {len(shown)} diagnostics after {time.monotonic() - start:.1f} s, {memory(process.pid)}",
        flush=True,
    )
    rng = random.Random(options.seed)  # noqa: S311 (edits, no secrets)
    differed, count = 0, 0
    for text in texts(rng, editor.text):
        said = await editor.change(text)
        shown = shown if said is None else said
        count += 1
        is_last = count >= options.edits and said is not None
        if said is not None and (is_last or (options.compare and count % options.compare == 0)):
            differed += differs(shown, editor.text, root, root / options.file, count)
        if is_last:
            break
    print(f"{count} key strokes and edits, {len(editor.times)} of them Python; {memory(process.pid)}")
    for name, each in (("by the clock", editor.times), ("of a processor", editor.processor)):
        times = sorted(each)
        high = times[len(times) * 95 // 100]
        print(
            f"seconds {name:15} {statistics.median(times):.2f} (median), {high:.2f} (95%), {times[-1]:.2f} (most)"
        )
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()
    return bool(differed)


def texts(rng: random.Random, text: str) -> Iterator[str]:
    """A file as one types: a statement key by key, and away again, or a change of a statement."""
    while True:
        if rng.random() < 0.5:
            change = edits.body if rng.random() < _BODIES else rng.choice(_OTHERS)
            changed = change(rng, text)
            if changed != text and edits.parses(changed):
                text = changed
                yield text
            continue
        lines = text.split("\n")
        places = [
            n
            for n, line in enumerate(lines)
            if line.startswith("        return ") and edits.parses(line.strip("\n ") and "def f():\n" + line)
        ]
        place = rng.choice(places)
        statement = f"        value_{rng.randrange(99)} = self.device, 1"
        for end in range(9, len(statement) + 1):
            yield "\n".join([*lines[:place], statement[:end], *lines[place:]])
        if rng.random() < 0.5:
            yield text
        else:
            text = "\n".join([*lines[:place], statement, *lines[place:]])


def difference(before: str, after: str) -> types.TextDocumentContentChangePartial:
    """The change of lines that makes one text another."""
    old, new = before.split("\n"), after.split("\n")
    first = next(
        (n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)) - 1
    )
    last = 0
    while last < min(len(old), len(new)) - first - 1 and old[-1 - last] == new[-1 - last]:
        last += 1
    end = len(old) - last
    where = types.Range(
        types.Position(first, 0), types.Position(end - 1, len(old[end - 1].encode("utf-16-le")) // 2)
    )
    return types.TextDocumentContentChangePartial(where, "\n".join(new[first : len(new) - last]))


def differs(shown: Shown, text: str, root: Path, path: Path, count: int) -> bool:
    """Whether a command that keeps nothing finds something else; that is printed."""
    before = path.read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "syncscan", "check", str(path), "--no-cache", "--output-format", "json"]
    done = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, check=False)
    path.write_text(before, encoding="utf-8")
    found = sorted((each["line"], each["code"]) for each in json.loads(done.stdout)["findings"])
    if found == shown:
        return False
    print(f"after {count} edits: a check finds {found}\nand the server says {shown}", flush=True)
    return True


def memory(pid: int) -> str:
    """What a process has in memory."""
    rows = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    kilobytes = next(int(row.split()[1]) for row in rows if row.startswith("VmRSS"))
    return f"{kilobytes / 1024:.0f} MiB"


def processor_seconds(pid: int) -> float:
    """What a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
