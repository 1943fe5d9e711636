"""One module of an installed package: the names that its top-level statements bind, and the statements that are needed."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
IMPORTS = (ast.Import, ast.ImportFrom)
_BRANCHES = (ast.If, ast.Try)
_FUTURE = "__future__"


@dataclass(eq=False)
class LibraryModule:
    """A parsed module; ``path`` is where it was read, ``name`` how it is imported."""

    name: str
    path: Path
    text: str
    body: list[ast.stmt]
    bound: dict[str, list[ast.stmt]] = field(init=False)  # the top-level statements that bind each name
    stars: list[ast.ImportFrom] = field(init=False)
    kept: dict[ast.stmt, None] = field(default_factory=dict)  # the top-level statements that are needed

    def __post_init__(self) -> None:
        self.bound = {}
        for statement in self.body:
            for name in dict.fromkeys(_names_bound_by(statement)):
                self.bound.setdefault(name, []).append(statement)
        self.stars = [
            each for each in imports_in(self.body) if isinstance(each, ast.ImportFrom) and is_star(each)
        ]

    @property
    def package(self) -> str:
        """The name of the outermost package."""
        return self.name.partition(".")[0]

    @property
    def is_package(self) -> bool:
        """True for the ``__init__.py`` of a package."""
        return self.path.stem == "__init__"

    @property
    def defines(self) -> bool:
        """True if more than imports is needed."""
        return any(not isinstance(statement, IMPORTS) for statement in self.kept)

    def target(self, statement: ast.ImportFrom) -> str:
        """Return the full name of the module that an import is from; "" where there is none, above the outermost package."""
        if not statement.level:
            return statement.module or ""
        parts = self.name.split(".")
        above = statement.level - self.is_package
        if above >= len(parts):
            return ""
        return ".".join([*parts[: len(parts) - above], *([statement.module] if statement.module else [])])

    def ranges(self) -> list[tuple[int, int]]:
        """Return the first and last lines of what is needed, in order, with all statements on these lines."""
        return [
            (_first_line(group[0]), group[-1].end_lineno or group[-1].lineno)
            for group in _on_lines_of_their_own(self.body)
            if any(each in self.kept or _is_of_the_future(each) for each in group)
        ]


def imports_in(nodes: Iterable[ast.AST]) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the imports in some nodes, at any depth."""
    for node in nodes:
        yield from (each for each in ast.walk(node) if isinstance(each, IMPORTS))


def is_star(statement: ast.ImportFrom) -> bool:
    """Return whether an import is ``from module import *``."""
    return any(alias.name == "*" for alias in statement.names)


def name_of(alias: ast.alias, statement: ast.Import | ast.ImportFrom) -> str:
    """Return the name that an alias of an import binds."""
    return alias.asname or (alias.name.partition(".")[0] if isinstance(statement, ast.Import) else alias.name)


def paths_in(node: ast.AST) -> Iterator[tuple[str, ...]]:
    """Yield each name in a node with the attributes that are read of it: ``("nn", "Linear")``."""
    queue = [node]
    while queue:
        each = queue.pop()
        if isinstance(each, (ast.Name, ast.Attribute)):
            attributes: list[str] = []
            inner: ast.expr = each
            while isinstance(inner, ast.Attribute):
                attributes.append(inner.attr)
                inner = inner.value
            if isinstance(inner, ast.Name):
                yield (inner.id, *reversed(attributes))
            else:
                queue.append(inner)
        else:
            queue.extend(ast.iter_child_nodes(each))


def with_lines(text: str, ranges: Iterable[tuple[int, int]]) -> str:
    """Return a text with the lines in some ranges, and empty lines in place of the others."""
    lines = text.split("\n")
    shown = [""] * len(lines)
    for first, last in ranges:
        shown[first - 1 : last] = lines[first - 1 : last]
    return "\n".join(shown)


def _names_bound_by(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a top-level statement binds, changes an item of, or sets an attribute of; not those inside definitions."""
    if isinstance(statement, DEFINITIONS):
        yield statement.name
    elif isinstance(statement, IMPORTS):
        yield from (name_of(alias, statement) for alias in statement.names)
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        yield from (name for name, *attributes in paths_in(statement.value.func) if attributes)
    else:
        for target in _targets_of(statement):
            yield from (name for name, *_ in paths_in(_without_indices(target)))
        for inner in _inside(statement):
            yield from _names_bound_by(inner)


def parts_binding(name: str, statement: ast.stmt) -> Iterator[ast.stmt]:
    """Yield the statements that bind a name, other than imports: a statement, or those in the branches of one."""
    if isinstance(statement, _BRANCHES):
        for inner in _inside(statement):
            yield from parts_binding(name, inner)
    elif not isinstance(statement, IMPORTS) and name in _names_bound_by(statement):
        yield statement


def _inside(statement: ast.stmt) -> Iterator[ast.stmt]:
    """Yield the statements in the blocks of a statement: in its branches, its handlers, its cases."""
    for inner in ast.iter_child_nodes(statement):
        block = [inner] if isinstance(inner, ast.stmt) else getattr(inner, "body", ())
        yield from block if isinstance(block, list) else ()


def _targets_of(statement: ast.stmt) -> list[ast.expr]:
    """Return what an assignment, a loop or a ``with`` statement sets."""
    if isinstance(statement, ast.Assign):
        return statement.targets
    if isinstance(statement, (ast.AnnAssign, ast.AugAssign, ast.For, ast.AsyncFor)):
        return [statement.target]
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return [item.optional_vars for item in statement.items if item.optional_vars is not None]
    return []


def _without_indices(target: ast.expr) -> ast.expr:
    while isinstance(target, ast.Subscript):
        target = target.value
    return target


def _on_lines_of_their_own(body: Iterable[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """Yield top-level statements in groups: what stands behind a semicolon belongs to what stands before."""
    group: list[ast.stmt] = []
    for statement in body:
        if group and not statement.col_offset:
            yield group
            group = []
        group.append(statement)
    if group:
        yield group


def _is_of_the_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == _FUTURE


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(each.lineno for each in decorators)])
