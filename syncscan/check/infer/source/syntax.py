"""What an expression says by its form alone."""

from __future__ import annotations

import ast


def dotted_name(node: ast.AST) -> str:
    """``a.b.c`` for names and attributes of names, "" for everything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    parts.append(node.id)
    return ".".join(reversed(parts))


def path_of(node: ast.AST) -> str:
    """The name of a path such as ``self.x`` or ``d["k"]``, or "": two of one name are the same thing."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = path_of(node.value)
        return f"{base}.{node.attr}" if base else ""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        base = path_of(node.value)
        return f"{base}[{node.slice.value!r}]" if base else ""
    return ""


def last_name(node: ast.AST) -> str:
    """The last part of a path: "is_available" of ``torch.cuda.is_available``."""
    if isinstance(node, ast.Attribute):
        return node.attr if path_of(node) else ""
    return path_of(node).rpartition(".")[2]
