"""What an expression says by its form alone."""

from __future__ import annotations

import ast

# What a node holds that is no expression and no statement, nor holds any.
PLAIN = frozenset(
    {"arg", "asname", "attr", "conversion", "ctx", "id", "is_async", "kind", "kwd_attrs", "level", "module", "name", "names",
     "op", "ops", "rest", "simple", "str", "tag", "type_comment", "type_ignores"}
)  # fmt: skip


class _Inside(dict[type[ast.AST], tuple[str, ...]]):
    """For each type of node the fields in which other nodes stand."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        is_literal = issubclass(kind, (ast.Constant, ast.MatchSingleton))
        fields = () if is_literal else tuple(name for name in kind._fields if name not in PLAIN)
        self[kind] = fields
        return fields


_INSIDE = _Inside()


def inside(node: ast.AST) -> list[ast.AST]:
    """The expressions, statements and such that stand directly in a node, in order; no operators and no names."""
    found: list[ast.AST] = []
    for name in _INSIDE[type(node)]:
        held = getattr(node, name)
        if type(held) is list:
            found += filter(None, held)
        elif held is not None:
            found.append(held)
    return found


def walk(node: ast.AST) -> list[ast.AST]:
    """A node and all `inside` it, what is nested less first: `ast.walk`, several times as fast."""
    found = [node]
    for each in found:  # which grows meanwhile
        for name in _INSIDE[type(each)]:
            held = getattr(each, name)
            if type(held) is list:
                found += filter(None, held)
            elif held is not None:
                found.append(held)
    return found


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


def decorators_of(node: ast.AST) -> list[ast.stmt]:
    """The decorators of a definition as statements, for they stand before it."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return [ast.copy_location(ast.Expr(decorator), decorator) for decorator in decorators]
