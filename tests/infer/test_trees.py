"""Trees as they are kept say what those of `ast` say, in less memory."""

from __future__ import annotations

import ast
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

from syncscan.check import engine
from syncscan.check.infer.source.indexer import index_module
from syncscan.check.infer.source.lines import Lines
from syncscan.check.infer.source.merge import merge
from syncscan.check.infer.source.trees import tree_of, types_of
from tests.check.marks import CORPUS

SOURCE = Path(engine.__file__).read_text()


def said(tree: ast.AST) -> Iterator[object]:
    """All that a tree says, without recursion: types, fields and positions."""
    queue: list[object] = [tree]
    while queue:
        node = queue.pop()
        if isinstance(node, ast.AST):
            yield type(node).__name__
            queue += [getattr(node, name) for name in (*node._fields, *node._attributes)]
        elif isinstance(node, list):
            yield len(node)
            queue += node
        else:
            yield node


def test_a_kept_tree_says_what_that_of_ast_says() -> None:
    compared = 0
    for file in sorted(CORPUS.rglob("*.py")):
        text = file.read_text()
        try:
            tree = ast.parse(text)
        except SyntaxError:  # of a newer Python
            continue
        assert [*said(tree_of(text))] == [*said(tree)], file
        compared += 1
    assert compared > 100


def test_the_text_of_a_definition_does_not_grow_with_the_project() -> None:
    """A definition reaches all others, so that a text of its fields is endless: one took 19 GiB."""
    module = index_module("engine", "engine.py", tree_of(SOURCE), Lines(SOURCE), is_package=False)
    definitions = [module, *module.classes, *module.functions]
    assert len(definitions) > 10
    assert max(len(repr(each)) for each in definitions) < 200


def test_every_node_with_a_place_is_kept_in_slots() -> None:
    nodes = [
        node
        for node in ast.walk(tree_of(SOURCE))
        if isinstance(node, (ast.expr, ast.stmt, ast.arguments, ast.alias))
    ]
    assert any(isinstance(node, ast.alias) for node in nodes)
    for node in nodes:
        assert not node.__dict__
        assert type(node) in types_of(type(node).__mro__[1])


def test_a_kept_tree_takes_half_the_memory() -> None:
    assert memory(tree_of) < memory(ast.parse) / 2


def memory(read: Callable[[str], ast.AST]) -> int:
    """How many bytes the tree of a text takes."""
    read(SOURCE)  # what is made once
    tracemalloc.start()
    try:
        tree = read(SOURCE)
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert isinstance(tree, ast.Module)
    return taken


def test_what_an_edit_adds_to_one_statement_is_in_no_other() -> None:
    before, after = "if a:\n    b()\nif c:\n    d()\n", "if a:\n    b()\nelse:\n    e()\nif c:\n    d()\n"
    tree = tree_of(before)
    merge(tree, tree_of(after), before.splitlines(), after.splitlines())
    first, second = tree.body
    assert isinstance(first, ast.If)
    assert isinstance(second, ast.If)
    assert (len(first.orelse), len(second.orelse)) == (1, 0)
    assert ast.unparse(tree) == after.strip()


def test_what_is_nested_too_deeply_to_be_copied_stays_as_it_is() -> None:
    text = "total = x" + " + x" * (sys.getrecursionlimit() * 2)
    assert [*said(tree_of(text))] == [*said(ast.parse(text))]
