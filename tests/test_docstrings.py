"""Docstrings of public names follow the rules of writing: those of ``styles/``; those of functions are imperative."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_language import problems

ROOT = Path(__file__).resolve().parent.parent / "syncscan"
_NO_VERB = {
    *("The", "A", "An", "What", "Whether", "How", "All", "Every", "Each", "For", "In"),
    *("Returns", "Yields"),
}


def modules() -> list[str]:
    return sorted(path.relative_to(ROOT).with_suffix("").as_posix() for path in ROOT.rglob("*.py"))


def documented(node: ast.AST, name: str) -> Iterator[tuple[str, ast.AST]]:
    """A module, and the public classes and functions in it, each with its name."""
    yield name, node
    for child in getattr(node, "body", []):
        if isinstance(child, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and child.name[0] != "_":
            yield from documented(child, f"{name}:{child.name}")


def is_called(node: ast.AST) -> bool:
    """Whether a node is a function, and no property, which may be named by a noun."""
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not any(
        "property" in ast.unparse(decorator) for decorator in node.decorator_list
    )


def faults(source: str, name: str) -> list[str]:
    found = []
    for where, node in documented(ast.parse(source), name):
        text = ast.get_docstring(node) or ""
        found += [f"{where}: {problem}" for problem in problems(text.replace("::\n", ":\n"))]
        if text and is_called(node) and text.split()[0] in _NO_VERB:
            found.append(f"{where}: begins with {text.split()[0]!r}, and not with a verb such as Return")
    return found


@pytest.mark.parametrize("module", modules())
def test_docstrings_follow_the_rules_of_writing(module):
    assert faults((ROOT / f"{module}.py").read_text(encoding="utf-8"), module) == []


def test_the_rules_find_what_they_are_for():
    source = '"""Which lines wait."""\nclass A:\n    def f(self):\n        """The text."""\n    def _g(self):\n        """The."""\n'
    assert len(faults(source, "a")) == 2
    assert len(modules()) > 100
