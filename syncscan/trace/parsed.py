"""A source file as the rules of a trace ask about it: its nodes by source range, and the full names of its imports."""

from __future__ import annotations

import ast
import builtins
import functools
import re
import warnings
from collections.abc import Iterator

from syncscan.syntax.context import SyntaxContext
from syncscan.syntax.names import SCOPES, dotted_name, names_bound_in
from syncscan.syntax.source_text import Range, first_line, holds_statements

_MODULE = re.compile(r"torch\.nn\.(?!Parameter\b|Buffer\b|Uninitialized)[A-Z]\w*")  # a class of modules
_WAITERS = {
    "cudaEventSynchronize": "torch.cuda.Event",
    "cudaStreamSynchronize": "torch.cuda.Stream",
    "cudaDeviceSynchronize": "torch.cuda",
}


class ParsedModule:
    """A parsed source file: its nodes by source range, and the full names of its imports."""

    def __init__(self, text: str) -> None:
        self.tree = ast.parse(text)
        self._lines = text.split("\n")
        self._names: dict[str, str] = {}
        self._bound_in: dict[ast.AST, frozenset[str]] = {}
        self._loggers: set[tuple[str, ast.AST]] = set()
        self._read_imports(self.tree)
        self._loggers.update(self._read_loggers(self.tree))

    @functools.cached_property
    def around_each(self) -> SyntaxContext:
        """The CST context of every node: its parents, its statement and its text."""
        return SyntaxContext(ast.walk(self.tree), self._lines)

    def around(self, place: Range) -> list[ast.AST]:
        """Return the nodes at exactly this range, innermost first, then their parents up to the statement."""
        found: list[ast.AST] = []
        node: ast.AST | None = self.tree
        while node is not None:
            found.append(node)
            node = next((child for child in _placed_in(node) if self._holds(child, place)), None)
        chain = found[::-1]
        end = next((i + 1 for i, node in enumerate(chain) if isinstance(node, ast.stmt)), None)
        return chain[:end]

    def on_line(self, line: int) -> list[ast.AST]:
        """Return the nodes that begin on a line, in the order of their ends."""
        nodes = [n for n in ast.walk(self.tree) if isinstance(n, (ast.expr, ast.stmt))]
        here = [node for node in nodes if self.line(node) == line]
        return sorted(here, key=lambda node: self._range(node)[2:])

    def line(self, node: ast.AST) -> int:
        """Return the line on which a node begins, 1-based."""
        return self._range(node)[0]

    def name_of(self, node: ast.AST, api: str) -> str:
        """Return the full name of a called function, or ""; ``api`` decides the owner of a method ``synchronize``."""
        if isinstance(node, ast.Name):
            if node.id in self._names:
                return self._names[node.id]
            return f"builtins.{node.id}" if hasattr(builtins, node.id) else ""
        if not isinstance(node, ast.Attribute):
            return ""
        return f"{self._dotted(node.value) or self._owner(node, api)}.{node.attr}"

    def _owner(self, method: ast.Attribute, api: str) -> str:
        """Return the class of a method: a text and a new module show theirs, and other objects count as tensors."""
        if _is_text(method.value):
            return "builtins.str"
        if isinstance(method.value, ast.Call) and _MODULE.fullmatch(self._dotted(method.value.func) or ""):
            return "torch.nn.Module"
        return _WAITERS.get(api, "torch.Tensor") if method.attr == "synchronize" else "torch.Tensor"

    def is_imported(self, node: ast.expr) -> bool:
        """Return whether an expression names an imported module or a member of one, or a logger of the file."""
        return self._dotted(node) is not None

    def _dotted(self, node: ast.expr) -> str | None:
        """Return the full name of a module or class, if the expression begins with an imported name or is a logger."""
        members: list[str] = []
        while isinstance(node, ast.Attribute) and not self._is_logger(node):
            members.append(node.attr)
            node = node.value
        if self._is_logger(node):
            owner: str | None = "logging.Logger"
        else:
            owner = self._names.get(node.id) if isinstance(node, ast.Name) else None
        return ".".join([owner, *reversed(members)]) if owner is not None else None

    def _is_logger(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Call):
            name, dot, member = dotted_name(node.func).partition(".")
            return f"{self._names.get(name)}{dot}{member}" == "logging.getLogger"
        return bool(self._loggers) and self._bound(node) in self._loggers

    def _bound(self, node: ast.expr) -> tuple[str, ast.AST]:
        """Return a name and the function or comprehension that binds the name, else the file; also for attributes."""
        if not isinstance(node, ast.Name):
            return dotted_name(node), self.tree
        scopes = (each for each in self.around_each.up(node) if isinstance(each, SCOPES))
        return node.id, next((each for each in scopes if node.id in self._names_bound_in(each)), self.tree)

    def _names_bound_in(self, scope: ast.AST) -> frozenset[str]:
        if scope not in self._bound_in:
            self._bound_in[scope] = names_bound_in(scope)
        return self._bound_in[scope]

    def _holds(self, node: ast.AST, place: Range) -> bool:
        if isinstance(node, ast.stmt) and holds_statements(node):  # its range includes decorators and body
            return first_line(node) <= place[0] and place[2] <= (node.end_lineno or 0)
        line, column, end_line, end_column = self._range(node)
        return (line, column) <= place[:2] and place[2:] <= (end_line, end_column)

    def _range(self, node: ast.AST) -> Range:
        return self.around_each.text.range_of(node)

    def _read_imports(self, tree: ast.Module) -> None:
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    bound = alias.asname or alias.name.partition(".")[0]
                    self._names[bound] = alias.name if alias.asname is not None else bound
            elif isinstance(node, ast.ImportFrom):
                origin = node.module if node.module is not None and not node.level else ""
                for alias in node.names:
                    self._names[alias.asname or alias.name] = f"{origin}.{alias.name}"

    def _read_loggers(self, tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
        """Yield the names and attributes that an assignment makes loggers, each with what binds the name."""
        for node in ast.walk(tree):
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(node.value, ast.Call):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                named = filter(dotted_name, targets)  # an item has no name
                yield from map(self._bound, named if self._is_logger(node.value) else ())


def _placed_in(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nearest descendants that have a source range; an argument list and the `for` of a comprehension have none.

    Before Python 3.12, the text between the fields of an f-string has the range of the whole f-string, and is left out.
    """
    for child in ast.iter_child_nodes(node):
        if isinstance(node, ast.JoinedStr) and isinstance(child, ast.Constant):
            continue
        if hasattr(child, "lineno"):
            yield child
        else:
            yield from _placed_in(child)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


@functools.lru_cache(maxsize=8)
def parse(source_text: str) -> ParsedModule | None:
    """Return the parsed file, or None for a text that Python cannot read."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # other tools report invalid escapes in the user's code
            return ParsedModule(source_text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
