"""Statements that copy an attribute to the GPU: ``self.x = self.x.to(device)``, or each tensor of a list.

Such a line blocks on its first run. Afterwards every tensor is on the GPU, and ``to`` returns the same tensors. Later
stores into the attribute, and copies back to the host, make the line block again.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from syncscan.check.infer.source.index import Class, Function
from syncscan.check.infer.source.syntax import last_name, path_of, walk

_FILLS = frozenset({"append", "extend", "insert", "update"})
_PLACES = (ast.Attribute, ast.Subscript, ast.Expr)


def moved_by(node: ast.Assign) -> str:
    """Return the ``x`` of ``self.x = self.x.to(device)``."""
    owner, _, name = path_of(node.targets[0]).rpartition(".")
    return name if owner == "self" and _moves(node.value, f"self.{name}") else ""


def puts_into(cls: Class, name: str) -> Iterator[tuple[Function, int]]:
    """Yield the lines of a class's methods, and of its bases and subclasses, that store other values into an attribute."""
    for each in (*cls.mro(), *cls.subclasses):
        for method in each.methods.values():
            nodes = walk(method.node)
            assigns = [node for node in nodes if isinstance(node, ast.Assign)]
            moved = {node.targets[0] for node in assigns if moved_by(node) == name}
            for node in nodes:
                if isinstance(node, _PLACES) and _puts_into(node, f"self.{name}") and node not in moved:
                    yield method, node.lineno


def _moves(node: ast.expr, path: str) -> bool:
    """Return whether a value is the path's own value or list, copied by ``to`` or ``cuda``."""
    if isinstance(node, ast.ListComp):
        each = node.generators[0]
        is_all = not each.ifs and path_of(each.iter) == path
        return is_all and _moves(node.elt, path_of(each.target))
    if not isinstance(node, ast.Call) or any(keyword.arg == "copy" for keyword in node.keywords):
        return False
    return last_name(node.func) in {"to", "cuda"} and _receiver(node) == path and not _is_to_host(node)


def _puts_into(node: ast.Attribute | ast.Subscript | ast.Expr, path: str) -> bool:
    if not isinstance(node, ast.Expr):
        return not isinstance(node.ctx, ast.Load) and path in {path_of(node), path_of(node.value)}
    call = node.value
    if not isinstance(call, ast.Call) or _receiver(call) != path:
        return False
    return last_name(call.func) in _FILLS or _is_to_host(call)  # `cpu` copies a module in place


def _receiver(call: ast.Call) -> str:
    return path_of(call.func.value) if isinstance(call.func, ast.Attribute) else ""


def _is_to_host(call: ast.Call) -> bool:
    texts = (inner.value for inner in walk(call) if isinstance(inner, ast.Constant))
    return last_name(call.func) == "cpu" or any(str(text).startswith("cpu") for text in texts)
