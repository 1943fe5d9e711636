"""Steps of evidence that stand at nodes of the source."""

from __future__ import annotations

import ast

from syncscan.model import Evidence


class Step(Evidence):
    """A step of evidence at a node: its line is that of the node, also when the file has changed above it.

    ``told`` is the cell to which it was told, where others may have told the same: which of them to show is chosen in the end.
    """

    __slots__ = ("node", "told")
    node: ast.AST
    told: object

    def __init__(
        self, path: str, node: ast.AST, text: str, parent: Evidence | None = None, told: object = None
    ) -> None:
        note = object.__setattr__  # frozen, like all evidence
        note(self, "path", path)
        note(self, "node", node)
        note(self, "text", text)
        note(self, "parent", parent)
        note(self, "cell", 0)
        note(self, "told", told)

    @property
    def line(self) -> int:
        """The line of the node now; that of a module, which has none, is its first."""
        return getattr(self.node, "lineno", 1)


class Placed(Step):
    """The step at which a value came to be where it is; those behind it are about the device."""

    __slots__ = ()
