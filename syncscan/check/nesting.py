"""Parse deeply nested sources as far as CPython can, and detect those that are too deep to analyse."""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

# Python frames for recursion into a source; CPython's own parser stops at about the same depth.
_RECURSION_LIMIT = 10_000
# Far deeper than handwritten code. The analysis takes a few Python frames for each level.
_DEEPEST = 1000


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Raise the recursion limit for code that recurses into the nesting of a source."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _RECURSION_LIMIT))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def parse(text: str) -> ast.Module:
    """Return the syntax tree of a source text.

    Raises SyntaxError or ValueError where the text is not Python, and RecursionError where the nesting is too
    deep.
    """
    return _parse(text, "exec")  # type: ignore[return-value]


def parse_expression(text: str) -> ast.expr:
    """Return the syntax tree of one expression; raises the same errors as `parse`."""
    return _parse(text, "eval").body  # type: ignore[attr-defined, no-any-return]


def _parse(text: str, mode: str) -> ast.AST:
    with deep_recursion(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # other tools report invalid escapes in the user's code
        try:
            return ast.parse(text, mode=mode)
        except MemoryError as error:  # the parser's own stack is exhausted
            raise RecursionError(*error.args) from error


def is_too_deep(*nodes: ast.AST) -> bool:
    """Return whether syntax trees nest more deeply than the analysis can recurse; the search itself is iterative."""
    queue = [(node, 1) for node in nodes]
    while queue:
        node, depth = queue.pop()
        if depth > _DEEPEST:
            return True
        queue += [(child, depth + 1) for child in ast.iter_child_nodes(node)]
    return False
