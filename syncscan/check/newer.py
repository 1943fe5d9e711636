"""Files with the syntax of a newer Python than this one, which is no mistake of their author.

libcst parses the syntax of every Python up to the newest that it knows, whichever runs it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import libcst as cst

from syncscan.system.workers import trial

LONGEST = 10  # seconds for one file; the largest ones that people write take one or two
MOST_BYTES = 1 << 30  # for one file; a file of 1.4 MB takes 0.8 GB


def newer_syntax(text: str) -> tuple[str, str] | None:
    """Return the Python that a source needs, such as "3.12", and the syntax that needs this Python; None if no newer Python helps.

    In a process of its own, because a hostile source can crash or occupy a parser that is native code, or fill the memory.
    """
    return trial(lambda: _newer_syntax(text), LONGEST, MOST_BYTES)


def _newer_syntax(text: str) -> tuple[str, str] | None:
    try:
        tree = cst.parse_module(text)
    except cst.ParserSyntaxError:
        return None
    seen = _Seen()
    tree.visit(seen)
    newest = max((form.version for form in seen.forms), default=(0, 0))
    if newest <= sys.version_info[:2]:
        return None
    names = {form.name for form in seen.forms if form.version == newest}
    return ".".join(map(str, newest)), ", ".join(sorted(names))


class _Seen(cst.CSTVisitor):
    """A visitor that collects the forms of newer syntax in a tree."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: set[_Form] = set()

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Record a node before its children."""
        self.forms.update(form for form in _BY_NODE.get(type(node).__name__, ()) if form.used_by(node))
        return True


@dataclass(frozen=True, slots=True)
class _Form:
    """A form of syntax, its first version of Python, and the nodes of libcst that stand for the form.

    The nodes are given by name, because older versions of libcst lack the newest.
    """

    name: str
    version: tuple[int, int]
    nodes: tuple[str, ...]
    used_by: Callable[[Any], bool] = lambda _: True


def _has_free_expression(string: cst.FormattedString) -> bool:
    """Return whether an f-string holds an expression that only Python 3.12 and newer allow."""
    one_line = len(string.quote) == 1
    return any(
        string.quote in code or "\\" in code or "#" in code or (one_line and "\n" in code)
        for code in map(cst.Module([]).code_for_node, _expressions(string.parts))
    )


def _expressions(parts: Sequence[cst.BaseFormattedStringContent]) -> Iterator[cst.CSTNode]:
    for part in parts:
        if isinstance(part, cst.FormattedStringExpression):
            yield part.with_changes(format_spec=None)
            yield from _expressions(part.format_spec or ())


def _has_bare_types(handler: cst.ExceptHandler | cst.ExceptStarHandler) -> bool:
    return isinstance(handler.type, cst.Tuple) and not handler.type.lpar


_FORMS = (
    _Form("except*", (3, 11), ("TryStar",)),
    _Form("a star in an index", (3, 11), ("Index",), lambda node: bool(node.star)),
    _Form(
        "a star in an annotation",
        (3, 11),
        ("Annotation",),
        lambda node: isinstance(node.annotation, cst.StarredElement),
    ),
    _Form("type parameters", (3, 12), ("TypeParameters",)),
    _Form("type statements", (3, 12), ("TypeAlias",)),
    _Form("PEP 701 f-strings", (3, 12), ("FormattedString",), _has_free_expression),
    _Form("defaults of type parameters", (3, 13), ("TypeParam",), lambda node: node.default is not None),
    _Form("except without parentheses", (3, 14), ("ExceptHandler", "ExceptStarHandler"), _has_bare_types),
    _Form("t-strings", (3, 14), ("TemplatedString",)),
    _Form("unpacking in comprehensions", (3, 15), ("StarredDictComp",)),
    _Form(
        "unpacking in comprehensions",
        (3, 15),
        ("ListComp", "SetComp", "GeneratorExp"),
        lambda node: isinstance(node.elt, cst.StarredElement),
    ),
    _Form("lazy imports", (3, 15), ("LazyImport", "LazyImportFrom")),
)
_BY_NODE = {name: [form for form in _FORMS if name in form.nodes] for form in _FORMS for name in form.nodes}
