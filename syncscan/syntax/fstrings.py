"""The replacement fields of f-strings: their source ranges, which `ast` reports only from Python 3.12 on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import libcst as cst

Spot = tuple[int, int]  # a line, and a column in characters from 0


def fields_in(text: str) -> list[tuple[Spot, Spot, Spot]]:
    """Return the begin and end of each replacement field of an f-string, and the begin of its expression.

    Lines and columns count from 0, relative to the string. The list is empty where libcst cannot parse the
    string.
    """
    import libcst as cst  # noqa: PLC0415 (its import takes longer than most incremental checks)
    from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider  # noqa: PLC0415

    try:
        wrapper = MetadataWrapper(cst.parse_module(f"({text})\n"), unsafe_skip_copy=True)
    except cst.ParserSyntaxError:
        return []
    positions = wrapper.resolve(PositionProvider)

    def range_of(node: cst.CSTNode) -> tuple[Spot, Spot]:
        found = positions[node]
        assert isinstance(found, CodeRange)
        return (
            (found.start.line - 1, found.start.column - (found.start.line == 1)),
            (found.end.line - 1, found.end.column - (found.end.line == 1)),
        )

    fields = []
    for node in _in_order(wrapper.module):
        if isinstance(node, cst.FormattedStringExpression):
            value = node.expression
            has_own = (
                isinstance(value, (cst.Tuple, cst.GeneratorExp)) and value.lpar
            )  # `ast` counts the parentheses of these
            fields.append((*range_of(node), range_of(value.lpar[-1] if has_own else value)[0]))
    return fields


def _in_order(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    yield node
    for child in node.children:
        yield from _in_order(child)
