"""The language server, asked by a real client over standard input and output."""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

pytest.importorskip("pygls")

from lsprotocol import types
from pygls.lsp.client import LanguageClient

SOURCE = 'import torch\n\n名 = torch.zeros(8, device="cuda")\n名前 = "😀"; n = 名.sum().item()\n'
CAN = types.ClientCapabilities(window=types.WindowClientCapabilities(work_done_progress=True))
Told = TypeVar("Told")
PATIENCE = 60  # seconds; what takes longer hangs


class Editor:
    """An editor with one or more files open."""

    def __init__(self, client: LanguageClient, root: Path) -> None:
        self.client = client
        self.root = root
        self.versions: dict[str, int] = {}
        self.told: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()
        self.all_told: list[types.PublishDiagnosticsParams] = []
        self.progress: list[dict[str, object]] = []
        self.messages: asyncio.Queue[types.ShowMessageParams] = asyncio.Queue()

    def uri(self, name: str) -> str:
        return (self.root / name).resolve().as_uri()

    def open(self, name: str) -> None:
        text = (self.root / name).read_bytes().decode()
        self.versions[name] = 1
        item = types.TextDocumentItem(self.uri(name), types.LanguageKind.Python, 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def change(self, name: str, text: str) -> None:
        self.versions[name] += 1
        document = types.VersionedTextDocumentIdentifier(version=self.versions[name], uri=self.uri(name))
        whole = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [whole]))

    async def awaited(self, queue: asyncio.Queue[Told]) -> Told:
        """What the server says next of a sort; AssertionError where it ends before, or says that something is wrong."""
        server = self.client._server
        assert server is not None
        others = [server.wait()] if queue is self.messages else [server.wait(), self.messages.get()]
        answer, *others = map(asyncio.ensure_future, (queue.get(), *others))
        first = asyncio.FIRST_COMPLETED
        done, _ = await asyncio.wait((answer, *others), timeout=PATIENCE, return_when=first)
        for each in (answer, *others):
            each.cancel()
        assert answer in done, [each.result() for each in done]
        return answer.result()

    async def hover(self, name: str, line: int, column: int) -> types.Hover | None:
        """What is shown where the mouse rests, counted from 0."""
        document, place = types.TextDocumentIdentifier(self.uri(name)), types.Position(line, column)
        return await self.client.text_document_hover_async(types.HoverParams(document, place))

    async def diagnostics(self, name: str) -> list[types.Diagnostic]:
        """What is said of the newest version of a file."""
        while True:
            told = await self.awaited(self.told)
            if told.uri == self.uri(name) and told.version == self.versions[name]:
                return list(told.diagnostics)


def edit(
    root: Path, work: Callable[[Editor], Awaitable[None]], *command: str, options: object = None
) -> None:
    """Start a server in a folder, and work with it."""

    async def run() -> None:
        client = LanguageClient("test", "1")
        editor = Editor(client, root)

        @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def told(params: types.PublishDiagnosticsParams) -> None:
            editor.told.put_nowait(params)
            editor.all_told.append(params)

        @client.feature(types.WINDOW_WORK_DONE_PROGRESS_CREATE)
        def create(_params: types.WorkDoneProgressCreateParams) -> None:
            """Show it."""

        @client.feature(types.PROGRESS)
        def progressed(params: types.ProgressParams) -> None:
            editor.progress.append(params.value)

        @client.feature(types.WINDOW_SHOW_MESSAGE)
        def said(params: types.ShowMessageParams) -> None:
            editor.messages.put_nowait(params)

        await client.start_io(sys.executable, *(command or ("-m", "syncscan", "server")))
        try:
            await client.initialize_async(
                types.InitializeParams(CAN, root_uri=root.as_uri(), initialization_options=options)
            )
            client.initialized(types.InitializedParams())
            await work(editor)
        finally:
            if client._server is not None and client._server.returncode is None:
                await client.shutdown_async(None)
                client.exit(None)
            await client.stop()

    asyncio.run(run())


def test_diagnostics_follow_what_is_typed(project):
    root = project({"a.py": SOURCE, "pyproject.toml": ""})

    async def work(editor: Editor) -> None:
        editor.open("a.py")
        (one,) = await editor.diagnostics("a.py")
        assert (one.code, one.source, one.severity) == (
            "SYN101",
            "syncscan",
            types.DiagnosticSeverity.Warning,
        )
        assert one.range == types.Range(types.Position(3, 15), types.Position(3, 29))  # in UTF-16
        assert one.code_description is None  # the repository has no address
        editor.change("a.py", SOURCE.replace('"cuda"', '"cpu"'))
        assert await editor.diagnostics("a.py") == []
        editor.change("a.py", SOURCE + "名.tolist(\n")  # half typed
        editor.change("a.py", SOURCE + "名.tolist()\n")
        assert [d.code for d in await editor.diagnostics("a.py")] == ["SYN101", "SYN102"]

    edit(root, work)


@pytest.mark.parametrize("name", ["with space.py", "a+b.py", "größe.py", "a%20b.py", "a#b.py"])
def test_a_file_is_the_same_in_any_spelling_of_its_uri(project, name):
    root = project({"My Project/" + name: SOURCE, "pyproject.toml": ""}) / "My Project"

    async def work(editor: Editor) -> None:
        editor.open(name)
        (one,) = await editor.diagnostics(name)
        assert one.code == "SYN101"
        everything = "".join(f"%{byte:02x}" for byte in name.encode())
        spelled = types.TextDocumentIdentifier(f"{root.resolve().as_uri()}/{everything}")
        shown = await editor.client.text_document_hover_async(
            types.HoverParams(spelled, types.Position(3, 20))
        )
        assert shown is not None
        assert shown.range == one.range
        editor.client.text_document_did_save(types.DidSaveTextDocumentParams(spelled))
        assert [d.code for d in await editor.diagnostics(name)] == ["SYN101"]

    edit(root, work)


def test_one_open_file_is_read_as_it_is_typed_for_another(project):
    root = project({
        "pyproject.toml": "",
        "store.py": "import torch\n\n\ndef lengths():\n    return torch.zeros(8)\n",
        "use.py": "from store import lengths\n\nprint(lengths().max().item())\n",
    })  # fmt: skip

    async def work(editor: Editor) -> None:
        editor.open("use.py")
        assert await editor.diagnostics("use.py") == []
        editor.open("store.py")
        editor.change(
            "store.py", 'import torch\n\n\ndef lengths():\n    return torch.zeros(8, device="cuda")\n'
        )
        assert await editor.diagnostics("store.py") == []
        editor.change("use.py", "# more\n" + (root / "use.py").read_text())
        assert [d.code for d in await editor.diagnostics("use.py")] == ["SYN101"]

    edit(root, work)


def test_what_is_half_typed_counts_as_it_was(project):
    made = 'import torch\n\nt = torch.zeros(8, device="cuda")\n'
    read = "import torch\nfrom a import t\n\nt.item()\n"
    root = project({"pyproject.toml": "", "a.py": made + "t.item()\n", "b.py": read})

    async def work(editor: Editor) -> None:
        editor.open("a.py")
        assert [d.code for d in await editor.diagnostics("a.py")] == ["SYN101"]
        editor.open("b.py")
        assert [d.code for d in await editor.diagnostics("b.py")] == ["SYN101"]
        editor.change("a.py", made + "t.item(\n")
        editor.change("b.py", read + "t.tolist()\n")
        assert [d.code for d in await editor.diagnostics("b.py")] == ["SYN101", "SYN102"]
        assert [told.version for told in editor.all_told if told.uri == editor.uri("a.py")] == [1]

    edit(root, work)


def test_a_long_read_is_shown(project):
    root = project({"pyproject.toml": "", "a.py": SOURCE})
    impatient = (
        "from syncscan.server import progress; progress.PATIENCE = progress._EACH = 0; "
        "from syncscan.cli import main; main()"
    )

    async def work(editor: Editor) -> None:
        editor.open("a.py")
        await editor.diagnostics("a.py")
        assert [told["kind"] for told in (editor.progress[0], editor.progress[-1])] == ["begin", "end"]
        assert (editor.progress[1]["kind"], editor.progress[1]["message"]) == ("report", "read 0%")

    edit(root, work, "-c", impatient, "server")


def test_a_hover_explains(project):
    root = project({"a.py": SOURCE, "pyproject.toml": ""})

    async def work(editor: Editor) -> None:
        editor.open("a.py")
        await editor.diagnostics("a.py")
        text = (await editor.hover("a.py", 3, 20)).contents.value
        assert text.startswith("**SYN101 item-read** (warning, proved)")
        assert "places the tensor on the GPU (" in text
        assert "(SYN101)" in text
        assert await editor.hover("a.py", 0, 0) is None

    edit(root, work)


def test_a_hover_names_the_other_callers(project):
    helper = "import torch\n\n\ndef longest(lens: torch.Tensor) -> int:\n    return int(lens.max())\n"
    lens = 'import torch\nfrom helper import longest\n\nlens = torch.ones(4, device="cuda")\n'
    called = f"{lens}def step() -> int:\n    return longest(lens)\n"
    root = project({"helper.py": helper, "a.py": called, "b.py": called, "pyproject.toml": ""})

    async def work(editor: Editor) -> None:
        editor.open("helper.py")
        await editor.diagnostics("helper.py")
        hover = await editor.hover("helper.py", 4, 12)
        assert f"\n\nAlso passed at {root / 'b.py'}:6\n\n" in hover.contents.value

    edit(root, work)


def test_actions_fix_and_ignore(project):
    text = "import torch\n\n\ndef f():\n    return torch.tensor([1, 2], device='cuda')\n"
    root = project({"a.py": text, "pyproject.toml": ""})

    async def work(editor: Editor) -> None:
        editor.open("a.py")
        (one,) = await editor.diagnostics("a.py")
        document = types.TextDocumentIdentifier(editor.uri("a.py"))
        params = types.CodeActionParams(document, one.range, types.CodeActionContext([one]))
        fix, ignore = await editor.client.text_document_code_action_async(params)
        assert "unsafe" in fix.title
        (change,) = fix.edit.changes[editor.uri("a.py")]
        assert "non_blocking=True" in change.new_text
        (comment,) = ignore.edit.changes[editor.uri("a.py")]
        assert comment.range == types.Range(types.Position(4, 0), types.Position(4, 0))
        assert comment.new_text == "    # syncscan: ignore[SYN301] TODO: say why the finding is suppressed\n"
        rows = text.splitlines(keepends=True)
        editor.change("a.py", "".join([*rows[:4], comment.new_text, *rows[4:]]))
        assert await editor.diagnostics("a.py") == []

    edit(root, work)


def test_a_diagnostic_leads_to_its_evidence(project):
    root = project({"a.py": SOURCE, "pyproject.toml": ""})

    async def work(editor: Editor) -> None:
        editor.open("a.py")
        (one,) = await editor.diagnostics("a.py")
        (step, *_) = one.related_information
        assert (step.location.uri, step.location.range.start.line) == (editor.uri("a.py"), 2)
        assert "cuda" in step.message

    edit(root, work)


def test_an_editor_applies_all_safe_fixes_at_once_and_no_others(project):
    text = (
        "import torch\n\nn = torch.zeros(3, device='cuda')\n"
        "a = torch.tensor(1.5, device='cuda')\nb = torch.tensor(2.5, device='cuda')\n"
        "c = torch.tensor([1, 2], device='cuda')\n"
    )
    root = project({"a.py": text, "pyproject.toml": ""})

    async def work(editor: Editor) -> None:
        editor.open("a.py")
        found = await editor.diagnostics("a.py")
        assert [each.range.start.line for each in found] == [3, 4, 5]
        document = types.TextDocumentIdentifier(editor.uri("a.py"))
        context = types.CodeActionContext([], only=[types.CodeActionKind.SourceFixAll])
        start = types.Position(0, 0)
        asked = types.CodeActionParams(document, types.Range(start, start), context)
        (action,) = await editor.client.text_document_code_action_async(asked)
        assert action.kind == "source.fixAll.syncscan"
        changes = action.edit.changes[editor.uri("a.py")]
        assert {change.range.start.line for change in changes} == {3, 4}

    edit(root, work)


def test_a_wrong_setting_is_said_once(project):
    root = project({"a.py": SOURCE, "pyproject.toml": "[tool.syncscan]\nselct = []\n"})

    async def work(editor: Editor) -> None:
        editor.open("a.py")
        said = await editor.awaited(editor.messages)
        assert "unknown key 'selct'" in said.message
        (root / "pyproject.toml").write_text("")
        editor.change("a.py", SOURCE)
        assert len(await editor.diagnostics("a.py")) == 1
        assert editor.messages.empty()

    edit(root, work)


def test_an_editor_has_settings_of_its_own(project):
    root = project({
        "a.py": SOURCE + "名.tolist()\n",
        "pyproject.toml": '[tool.syncscan]\nignore = ["SYN102"]\n',
        "other.toml": '[tool.syncscan]\nselect = ["SYN3"]\n',
    })  # fmt: skip

    async def work(editor: Editor) -> None:
        def configure(settings: object) -> None:
            editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings))

        editor.open("a.py")
        assert await editor.diagnostics("a.py") == []
        for settings, codes in [
            ({"minConfidence": "inferred"}, ["SYN101"]),
            ({"ignore": [], "extendSelect": ["SYN102"]}, ["SYN101", "SYN102"]),
            ({"config": str(root / "other.toml")}, []),
            ({"min-confidence": "proved"}, ["SYN101"]),
            ({"enable": False}, []),
        ]:
            configure({"syncscan": settings})
            assert [each.code for each in await editor.diagnostics("a.py")] == codes
        for settings, said in [
            ({"selct": []}, "the settings of the editor: unknown key 'selct'; did you mean 'select'?"),
            ({"enable": 1}, "the settings of the editor: enable: must be true or false, not 1"),
            ({"config": 1}, "the settings of the editor: config: must be the path of a TOML file, not 1"),
            (
                ["SYN1"],
                "the settings of the editor must be an object such as {'select': ['SYN1']}, not ['SYN1']",
            ),
            ({"extend": "a.toml"}, "the settings of the editor: extend: is for files; name one as `config`"),
        ]:
            configure({"syncscan": settings})
            assert (await editor.awaited(editor.messages)).message == f"syncscan: {said}"
        configure({"other": {}})
        configure({"syncscan": {}})
        while not (told := await editor.diagnostics("a.py")):
            """What was asked before that is said too."""
        assert [each.code for each in told] == ["SYN101"]

    edit(root, work, options={"select": ["SYN3"]})


@pytest.mark.long
def test_many_edits_end_where_a_check_does(syncscan, project):
    root = project({"a.py": SOURCE, "pyproject.toml": ""})
    lines = [
        "n = 名.max().item()",
        "名 = 名.cpu()",
        '名 = torch.zeros(3, device="cuda")',
        "if 名.any():\n    pass",
        "x = (",
    ]
    chance = random.Random(3)

    async def work(editor: Editor) -> None:
        editor.open("a.py")
        await editor.diagnostics("a.py")
        for _ in range(5):
            for _ in range(20):
                text = SOURCE + "".join(f"{line}\n" for line in chance.choices(lines, k=3))
                editor.change("a.py", text)
            text = SOURCE + "".join(f"{line}\n" for line in chance.choices(lines[:-1], k=3))
            editor.change("a.py", text)
            shown = [(d.range.start.line + 1, d.code) for d in await editor.diagnostics("a.py")]
            (root / "a.py").write_text(text)
            found = json.loads(syncscan("check", "a.py", "--output-format", "json").stdout)["findings"]
            assert shown == [(f["line"], f["code"]) for f in found]

    edit(root, work)


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_stays_what_it_was_while_one_types(project):
    functions = "".join(f"def f{n}(x, y=[{n}]):\n    return g(x.y, {n})\n" for n in range(1500))
    root = project({"a.py": SOURCE + functions, "pyproject.toml": ""})

    async def work(editor: Editor) -> None:
        editor.open("a.py")
        await editor.diagnostics("a.py")

        async def mebibytes_after_edits(numbers: range) -> float:
            for number in numbers:
                editor.change("a.py", f"{SOURCE}{functions}n = {number}\n")
                await editor.diagnostics("a.py")
            status = Path(f"/proc/{editor.client._server.pid}/status").read_text()
            return int(status.partition("VmRSS:")[2].split()[0]) / 1024

        before = await mebibytes_after_edits(range(10))
        assert await mebibytes_after_edits(range(10, 40)) < before + 15

    edit(root, work)


def test_a_server_that_ends_or_fails_is_not_waited_for(project):
    root = project({"a.py": SOURCE, "pyproject.toml": ""})

    async def ended(editor: Editor) -> None:
        editor.client._server.kill()
        with pytest.raises(AssertionError, match="-9"):
            await editor.diagnostics("a.py")

    async def failing(editor: Editor) -> None:
        editor.open("a.py")
        with pytest.raises(AssertionError, match="syncscan failed, please report this: TypeError"):
            await editor.diagnostics("a.py")

    edit(root, ended)
    broken = (
        "from syncscan.server import workspace; workspace.check = None; from syncscan.cli import main; main()"
    )
    edit(root, failing, "-c", broken, "server")


def test_without_pygls_there_is_one_line(syncscan, monkeypatch):
    monkeypatch.setitem(sys.modules, "pygls.lsp.server", None)
    monkeypatch.delitem(sys.modules, "syncscan.server.server", raising=False)
    done = syncscan("server")
    assert (done.stderr, done.status) == (
        "syncscan: the server needs pygls: pip install 'syncscan[lsp]'\n",
        2,
    )
