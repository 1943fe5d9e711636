"""Docstrings and comments follow the rules of writing: those of ``styles/``; docstrings of functions are imperative."""

from __future__ import annotations

import ast
import io
import itertools
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_language import problems

ROOT = Path(__file__).resolve().parent.parent
_ONLY_PUBLIC = "syncscan/check/infer/"
_DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_NO_VERB = {
    *("The", "A", "An", "What", "Whether", "How", "All", "Every", "Each", "For", "In"),
    *(
        "Returns",
        "Yields",
        "Called",
        "Running",
        "Why",
        "One",
        "Any",
        "At",
        "So",
        "Last",
        "True",
        "Null",
        "Context",
    ),
}
# Of tools, and of ours to tools.
_DIRECTIVES = ("noqa", "type:", "fmt:", "syncscan:", "expect:")


def modules() -> list[str]:
    return sorted(
        path.relative_to(ROOT).with_suffix("").as_posix()
        for folder in ("syncscan", "rules")
        for path in (ROOT / folder).rglob("*.py")
    )


def documented(node: ast.AST, name: str, *, private: bool) -> Iterator[tuple[str, ast.AST]]:
    """Yield a module, and the classes and functions inside, each with its name."""
    yield name, node
    for child in definitions(node) if private else getattr(node, "body", []):
        if isinstance(child, _DEFINITIONS) and (private or child.name[0] != "_"):
            yield from documented(child, f"{name}:{child.name}", private=private)


def definitions(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the next definitions below a node, those in branches and loops included."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _DEFINITIONS):
            yield child
        else:
            yield from definitions(child)


def is_called(node: ast.AST) -> bool:
    """Return whether a node is a function, and no property, which may be named by a noun."""
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not any(
        "property" in ast.unparse(decorator) for decorator in node.decorator_list
    )


def comments(source: str) -> Iterator[tuple[int, str]]:
    """Yield each comment with its last line; comments on consecutive lines of their own are one text."""
    lines = source.splitlines()
    found = [
        token
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT and not token.string.lstrip("# ").startswith(_DIRECTIVES)
    ]
    text: list[str] = []
    for token, following in itertools.zip_longest(found, found[1:]):
        line, column = token.start
        text.append(token.string.lstrip("# "))
        is_alone = lines[line - 1].lstrip().startswith("#")
        if not is_alone or following is None or following.start != (line + 1, column):
            yield line, " ".join(text)
            text = []


def begins_with_verb(word: str) -> bool:
    """Return whether a word may be a verb, by a list of the others that writers begin with."""
    return word[0].isalpha() and not word.endswith("Error") and word not in _NO_VERB


def faults(source: str, name: str, *, private: bool = True) -> list[str]:
    found = []
    for where, node in documented(ast.parse(source), name, private=private):
        text = ast.get_docstring(node) or ""
        found += [f"{where}: {problem}" for problem in problems(text.replace("::\n", ":\n"))]
        if text and is_called(node) and not begins_with_verb(text.split()[0]):
            found.append(f"{where}: begins with {text.split()[0]!r}, and not with a verb such as Return")
    if private:
        for line, text in comments(source):
            found += [f"{name}:{line}: {problem}" for problem in problems(text)]
    return found


@pytest.mark.parametrize("module", modules())
def test_docstrings_and_comments_follow_the_rules_of_writing(module):
    source = (ROOT / f"{module}.py").read_text(encoding="utf-8")
    assert faults(source, module, private=not module.startswith(_ONLY_PUBLIC)) == []


def test_the_rules_find_what_they_are_for():
    source = (
        '"""Which lines wait."""\nclass A:\n    def f(self):\n        """The text."""\n'
        '    def _g(self):\n        """The text."""\n        if self:\n            def h():\n'
        '                """What is kept."""\n    x = 1  # for each wait\n    # Of\n    # all.\n    y = 2  # noqa: X\n'
    )
    assert len(faults(source, "a", private=False)) == 2
    assert faults(source, "a")[2:] == [
        "a:A:_g: begins with 'The', and not with a verb such as Return",
        "a:A:_g:h: 'What is kept', write 'cache': What is kept.",
        "a:A:_g:h: begins with 'What': What is kept.",
        "a:A:_g:h: begins with 'What', and not with a verb such as Return",
        "a:10: 'each wait', write 'synchronization': for each wait",
        "a:12: begins with 'Of': Of all.",
    ]
    assert len(modules()) > 100
