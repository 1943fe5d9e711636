"""Uses of lists by name: what only reads a list, and what fills one."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from syncscan.check.infer.source.syntax import NodesByType, inside, last_name, walk
from syncscan.syntax.names import dotted_name

_READS = frozenset(
    {
        "len",
        "sum",
        "min",
        "max",
        "sorted",
        "any",
        "all",
        "zip",
        "enumerate",
        "reversed",
        "tuple",
        "list",
        "map",
    }
)
_READING_METHODS = frozenset(
    {"clear", "copy", "count", "get", "index", "items", "keys", "pop", "remove", "reverse", "values"}
)


def blocks_of(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield the bodies of a statement."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list) and block:
            yield block
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield part.body


def filled_by(node: ast.AST) -> ast.expr | None:
    """Return the list that a statement appends an item to: ``rows.append(x)``."""
    return filled_list(node.value) if isinstance(node, ast.Expr) else None


def filled_list(call: ast.AST) -> ast.expr | None:
    """Return the list that a call appends an item to."""
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    return call.func.value if call.func.attr == "append" and len(call.args) == 1 else None


_QUOTED = re.compile(r"""["'](\w+)(?=["'])""")  # for `getattr`


def other_uses(text: str, nodes: NodesByType) -> Iterator[str]:
    """Yield the names of attributes that a module uses otherwise than to read or to fill a list."""
    yield from set(_QUOTED.findall(text))
    uses = Counter(node.attr for node in nodes.of(ast.Attribute) if isinstance(node.ctx, ast.Load))
    uses.subtract(each.attr for each in read_in(nodes) if isinstance(each, ast.Attribute))
    filled = (filled_by(node) for node in nodes.of(ast.Expr))
    uses.subtract(each.attr for each in filled if isinstance(each, ast.Attribute))
    yield from (name for name, count in uses.items() if count)


def read_in(nodes: NodesByType) -> Iterator[ast.expr]:
    """Yield the expressions that some nodes iterate over, measure or read an item of."""
    for kinds, reads in _BY_TYPE:
        for node in nodes.of(*kinds):
            yield from reads(node)


def _item(node: ast.Subscript) -> Sequence[ast.expr]:
    return [node.value] if isinstance(node.ctx, ast.Load) else ()


def _searched(node: ast.Compare) -> Sequence[ast.expr]:
    pairs = zip(node.ops, node.comparators, strict=True)
    return [right for operator, right in pairs if isinstance(operator, (ast.In, ast.NotIn))]


def _arguments(node: ast.Call) -> Sequence[ast.expr]:
    head = dotted_name(node.func)
    if head in _READS or head.startswith(("np.", "numpy.", "torch.")) or last_name(node.func) == "join":
        return [each for each in node.args if not isinstance(each, ast.Starred)]
    if isinstance(node.func, ast.Attribute) and node.func.attr in _READING_METHODS:
        return [node.func.value]
    return ()


def _unpacked(node: ast.Starred | ast.keyword) -> Sequence[ast.expr]:
    is_read = isinstance(node.ctx, ast.Load) if isinstance(node, ast.Starred) else node.arg is None
    return [node.value] if is_read else ()


_BY_TYPE: tuple[tuple[tuple[type[ast.AST], ...], Callable[[Any], Sequence[ast.expr]]], ...] = (
    ((ast.For, ast.comprehension), lambda node: [node.iter]),
    ((ast.Subscript,), _item),
    ((ast.If, ast.While, ast.IfExp, ast.Assert), lambda node: [node.test]),
    ((ast.UnaryOp,), lambda node: [node.operand]),
    ((ast.Call,), _arguments),
    ((ast.Starred, ast.keyword), _unpacked),
    ((ast.Compare,), _searched),
)


def stored_names(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement binds itself, without nested statements."""
    targets: list[ast.AST | None] = [*getattr(node, "targets", ()), getattr(node, "target", None)]
    targets += [item.optional_vars for item in getattr(node, "items", ())]
    targets += [case.pattern for case in getattr(node, "cases", ())]
    targets += getattr(node, "handlers", ())
    for target in filter(None, targets):
        parts = [target] if isinstance(target, ast.ExceptHandler) else walk(target)
        yield from filter(None, map(_bound_by, parts))
    for child in inside(node):
        if isinstance(child, ast.expr):
            yield from (each.target.id for each in walk(child) if isinstance(each, ast.NamedExpr))


def changed_inside(node: ast.AST) -> Iterator[str]:
    """Yield the names that a statement and all inside bind or fill, in functions and classes too."""
    for each in walk(node):
        filled = filled_list(each)
        if isinstance(filled, ast.Name):
            yield filled.id
        elif isinstance(each, (ast.Import, ast.ImportFrom)):
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in each.names)
        elif name := _bound_by(each):
            yield name


def _bound_by(node: ast.AST) -> str:
    """Return the name that a part of a target or of a pattern binds, or ""."""
    if isinstance(node, ast.Name):
        return "" if isinstance(node.ctx, ast.Load) else node.id
    return getattr(node, "name", None) or getattr(node, "rest", None) or ""


def owners_set(node: ast.AST, name: str) -> Iterator[str]:
    """Yield the dotted names whose attribute of some name a piece of code sets, also by ``setattr``."""
    for each in walk(node):
        if isinstance(each, ast.Attribute) and each.attr == name and not isinstance(each.ctx, ast.Load):
            yield dotted_name(each.value)
        elif isinstance(each, ast.Call) and last_name(each.func) in {"setattr", "__setattr__"} and each.args:
            yield dotted_name(each.args[0])
