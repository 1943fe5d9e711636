"""The server: one thread checks the last changed document, and the editor never blocks on the check."""

from __future__ import annotations

import gc
import queue
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlparse

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.workspace import TextDocument

from syncscan import __version__
from syncscan.check.files import normalise
from syncscan.errors import EXIT_OK, ConfigError, SyncscanError
from syncscan.model import Edit, Finding
from syncscan.server import answers
from syncscan.server.progress import EditorProgress
from syncscan.server.settings import Settings
from syncscan.server.workspace import Workspace
from syncscan.system.memory import free_all, free_recent

_EXIT_UNANNOUNCED = 1
_QUIET = 20.0  # seconds after which nobody types
_LAST = 2**31 - 1  # a line or a column behind all others
FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.syncscan"


@dataclass(frozen=True, slots=True)
class _Diagnosed:
    """The findings of a version of a document."""

    version: int | None
    findings: tuple[Finding, ...]


class Server(LanguageServer):
    """A language server over a workspace."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__("syncscan", __version__)
        self.exit_status = EXIT_OK
        self._workspace = workspace
        self._known: dict[str, _Diagnosed] = {}
        self._asked: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._complained: set[str] = set()
        self._is_stale = threading.Event()
        threading.Thread(target=self._work, daemon=True).start()

    def ask(self, uri: str) -> None:
        """Request a check of a document, after the present work."""
        self._asked.put(unquote(uri))  # the key of a document in pygls, in any spelling

    def configure(self, given: object) -> None:
        """Apply the settings of the editor; report bad settings, and keep the former settings then."""
        try:
            self._workspace.settings = Settings.of(given)
        except ConfigError as error:
            self._complain(str(error))

    def check_all(self) -> None:
        """Request a new check of all open documents, with the present files."""
        self.look_again()
        for key in list(self.workspace.text_documents):
            self._asked.put(key)

    def look_again(self) -> None:
        """Request that the next question reads the files again."""
        self._is_stale.set()

    def forget(self, uri: str) -> None:
        """Show nothing more of a document that was closed."""
        self._known.pop(unquote(uri), None)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def found(self, uri: str, where: types.Range) -> Iterator[tuple[Finding, TextDocument, types.Range]]:
        """Yield the findings that touch a range of a document, if the findings are of its present text."""
        document = self.workspace.get_text_document(uri)
        known = self._known.get(unquote(uri))
        if known is None or known.version != document.version:
            return
        for finding in known.findings:
            place = client_range(document, finding)
            if place.start <= where.end and where.start <= place.end:
                yield finding, document, place

    def _work(self) -> None:
        gc.disable()  # the analysis of a project is one big graph, which the collector would walk between two key strokes
        while True:
            keys = {self._next()}
            while not self._asked.empty():  # of several changes of a document, the last one counts
                keys.add(self._asked.get())
            for key in sorted(keys):
                self._check(key)
            free_recent()

    def _next(self) -> str:
        """Return the next document to check; free memory while none comes for a while."""
        try:
            return self._asked.get(timeout=_QUIET)
        except queue.Empty:
            free_all()
            free_recent()
            return self._asked.get()

    def _check(self, key: str) -> None:
        document = self.workspace.text_documents.get(key)
        path = path_of(document.uri) if document is not None else None
        if document is None or path is None:
            return
        version = document.version
        texts = self._open_files()
        if self._is_stale.is_set():
            self._is_stale.clear()
            self._workspace.look_again()
        progress = EditorProgress(self)
        try:
            found = self._workspace.findings(path, texts, progress)
        except SyncscanError as error:
            self._complain(str(error))
            return
        except Exception as error:  # the server survives, and the editor shows the error
            self._complain(f"syncscan failed, please report this: {type(error).__name__}: {error}")
            return
        finally:
            progress.end()
        if found is None:  # half typed: the last diagnostics stay where the editor shifts them
            return
        findings = tuple(found)
        if document.version != version:  # a later change is in the queue
            return
        self._known[key] = _Diagnosed(version, findings)
        diagnostics = [answers.diagnostic(finding, client_range(document, finding)) for finding in findings]
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(document.uri, diagnostics, version)
        )

    def _open_files(self) -> dict[Path, bytes]:
        return {
            path: document.source.encode("utf-8", "surrogatepass")
            for document in list(self.workspace.text_documents.values())
            if (path := path_of(document.uri)) is not None
        }

    def _complain(self, message: str) -> None:
        """Show an error once."""
        if message not in self._complained:
            self._complained.add(message)
            self.window_show_message(types.ShowMessageParams(types.MessageType.Error, f"syncscan: {message}"))


def make_server(workspace: Workspace) -> Server:
    """Return the server with its handlers."""
    server = Server(workspace)
    _end(server)
    _follow(server)
    _answer(server)
    return server


def _end(server: Server) -> None:
    """Set the exit status that the protocol asks for: success only where the client has announced the end."""
    was_announced = False

    @server.feature(types.SHUTDOWN)
    def announced(_params: None) -> None:
        nonlocal was_announced
        was_announced = True

    @server.feature(types.EXIT)
    def ended(_params: None) -> None:
        server.exit_status = EXIT_OK if was_announced else _EXIT_UNANNOUNCED


def _follow(server: Server) -> None:
    """Follow the settings and the documents of the client."""

    @server.feature(types.INITIALIZE)
    def begun(params: types.InitializeParams) -> None:
        if params.initialization_options is not None:
            server.configure(params.initialization_options)

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def configured(params: types.DidChangeConfigurationParams) -> None:
        if isinstance(params.settings, Mapping) and "syncscan" in params.settings:
            server.configure(params.settings["syncscan"])
            server.check_all()

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        server.look_again()
        server.ask(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        server.ask(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(_params: types.DidSaveTextDocumentParams) -> None:
        server.check_all()  # for files on disk affect all of them

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.look_again()
        server.forget(params.text_document.uri)


def _answer(server: Server) -> None:
    """Answer requests of the client about a place in a document."""

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hovered(params: types.HoverParams) -> types.Hover | None:
        here = types.Range(params.position, params.position)
        found = list(server.found(params.text_document.uri, here))
        if not found:
            return None
        text = "\n\n---\n\n".join(answers.hover(finding) for finding, _, _ in found)
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), found[0][2])

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix, FIX_ALL]),
    )
    def acted(params: types.CodeActionParams) -> list[types.CodeAction]:
        uri, only = params.text_document.uri, params.context.only
        if only and any(kind == FIX_ALL or FIX_ALL.startswith(f"{kind}.") for kind in only):
            return _fix_all(server, uri)
        if only and not any(str(kind) in {"", types.CodeActionKind.QuickFix.value} for kind in only):
            return []
        return [
            _action(
                title,
                uri,
                [_text_edit(document, edit) for edit in edits],
                place,
                finding,
                is_preferred=preferred,
            )
            for finding, document, place in server.found(uri, params.range)
            for title, edits, preferred in answers.actions(finding, finding.path, normalise(document.source))
        ]


def _fix_all(server: Server, uri: str) -> list[types.CodeAction]:
    """Return one action with every safe fix of a document; none where there is nothing to fix."""
    everywhere = types.Range(types.Position(0, 0), types.Position(_LAST, _LAST))
    found = list(server.found(uri, everywhere))
    document = server.workspace.get_text_document(uri)
    edits = [_text_edit(document, edit) for edit in answers.fix_all(finding for finding, _, _ in found)]
    if not edits:
        return []
    change = types.WorkspaceEdit(changes={uri: edits})
    return [types.CodeAction("Apply all safe fixes of syncscan", kind=FIX_ALL, edit=change)]


def _action(
    title: str,
    uri: str,
    edits: list[types.TextEdit],
    place: types.Range,
    finding: Finding,
    *,
    is_preferred: bool,
) -> types.CodeAction:
    return types.CodeAction(
        title,
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[answers.diagnostic(finding, place)],
        is_preferred=is_preferred,
        edit=types.WorkspaceEdit(changes={uri: edits}),
    )


def client_range(document: TextDocument, place: Finding | Edit) -> types.Range:
    """Return a place as the editor counts columns, in UTF-16 units as a rule."""
    return document.position_codec.range_to_client_units(document.lines, answers.range_of(place))


def _text_edit(document: TextDocument, edit: Edit) -> types.TextEdit:
    return types.TextEdit(client_range(document, edit), edit.text)


def path_of(uri: str) -> Path | None:
    """Return the file of a document; None where it is none, or not saved yet."""
    parsed = urlparse(uri)
    return Path(unquote(parsed.path)).resolve() if parsed.scheme == "file" else None
