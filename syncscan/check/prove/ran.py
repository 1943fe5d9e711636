"""The lines that ran in a trace, by which a proof leaves out what never ran."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from syncscan.check.infer.source.index import Class, Function, Module

# Statements whose line Python may leave out of what it reports.
_SILENT = (ast.Pass, ast.Break, ast.Continue, ast.Global, ast.Nonlocal)


class Ran:
    """The lines that ran, by file; all of them where there is no trace."""

    def __init__(self, lines: Mapping[str, set[int]] | None = None) -> None:
        self._lines = lines

    def has(self, function: Function, first: int, last: int = 0) -> bool:
        """Return whether any of some lines of a function ran."""
        return self._has(function.module, first, max(first, last))

    def statement(self, module: Module, node: ast.stmt) -> bool:
        """Return whether a statement may have run; where it did not, what stands behind it did not either."""
        if self._lines is None or _is_silent(node):
            return True
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
        return self._has(module, first, node.end_lineno or node.lineno)

    def body(self, function: Function) -> bool:
        """Return whether the body of a function may have run: where it did not, nothing called it."""
        body = getattr(function.node, "body", None)
        if self._lines is None or not isinstance(body, list) or all(map(_is_silent, body)):
            return True
        return any(not _is_silent(node) and self.statement(function.module, node) for node in body)

    def made(self, cls: Class) -> bool:
        """Return whether an object of a class, and of none below it, may have been made."""
        makers = [cls.methods[name] for name in ("__new__", "__init__") if name in cls.methods]
        return self.statement(cls.module, cls.node) and all(map(self.body, makers))

    def _has(self, module: Module, first: int, last: int) -> bool:
        if self._lines is None:
            return True
        ran = self._lines.get(module.path, ())
        return any(line in ran for line in range(first, last + 1))


def _is_silent(node: ast.stmt) -> bool:
    """Return whether a statement may run without a trace: one that jumps, a text, or a declaration."""
    if isinstance(node, _SILENT):
        return True
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    return isinstance(node, ast.AnnAssign) and node.value is None
