"""The text and the range of syntax nodes, held against libcst, which keeps all of a source."""

from __future__ import annotations

import ast
from pathlib import Path

import libcst as cst
import pytest
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from syncscan.syntax.context import SyntaxContext
from syncscan.syntax.source_text import Range, SourceText

ROOT = Path(__file__).resolve().parents[2]
FILES = [*sorted((ROOT / "rules").glob("*.py")), *sorted((ROOT / "syncscan" / "check").glob("*.py"))]

ODD = {
    "parentheses": "y = ((a) + (b))\nz = f((a), (b), ((c)),)\nw = f((a))\nv = f(a)(b)((c))\nu = (f)(a)\nt = ((a))[(b)]\n",
    "lines": "y = f(\n    (  # ) first\n        a  # (\n    ),\n    b,\n)\nz = (\n    a\n    .b\n)\n",
    "strings with signs": 'y = f("# (", (a))\nz = f(\'(\', "\\"(", (  # " (\n    a\n))\n',
    "continued": "y = f(a, \\\n    (b))\nz = ( \\\n  a)\n",
    "characters": 'y = f("é", (a), "ü".b((c)))\nß = ("😀" + (d)).e\n',
    "form feed": "y = (a)\n\f\nz = f((b))\n",
    "starred": "y = f(*(a), **(b), c=(d))\nz = [*(a), (b)]\n",
    "walrus, lambda, await": "y = f((n := (a)), lambda: (b), key=lambda x=(1): x)\nasync def g():\n    return (await (a))\n",
    "comprehensions": "y = [(a) for (a) in (b) if (c)]\nz = f((a) for a in (b))\nw = f((a for a in b), (c))\n",
    "heads": "if (a):\n    (b)\nwhile (a) and b: (c)\nfor x in (a): pass\nwith (a) as b, (c): pass\nassert (a), (b)\n",
    "strings in f-strings": 'y = f"{(a)} {b!r:>{c}} {d=}"\nz = "x" f"{a}" "y" f"{(b)}{a}"\n',
    "f-string of lines": "y = f(\"\"\"é\n{a}\n  {b.c[0]} {(a)}\"\"\", f'''{\n(a)}''')\n",
    "f-string in f-string": "y = f\"{f'{a} {b}'} {a} {b:{c}{d}}\"\nz = f'{ {1: a}[1] } {(a, b)} {{{c}}}'\n",
}


def text_of(source: str) -> tuple[ast.Module, SourceText]:
    tree = ast.parse(source)
    return tree, SyntaxContext(ast.walk(tree), source.split("\n")).text


def of_libcst(source: str) -> dict[Range, str]:
    """The text of each expression by its range."""
    wrapper = MetadataWrapper(cst.parse_module(source), unsafe_skip_copy=True)
    found = {}
    for node, place in wrapper.resolve(PositionProvider).items():
        if isinstance(node, (cst.BaseExpression, cst.FormattedStringExpression)):
            assert isinstance(place, CodeRange)
            span = (place.start.line, place.start.column + 1, place.end.line, place.end.column + 1)
            found.setdefault(span, wrapper.module.code_for_node(node))
    return found


PLACED_ELSEWHERE = (ast.Tuple, ast.GeneratorExp, ast.Slice, ast.Starred)  # by libcst, or no expressions there


@pytest.mark.parametrize("source", [*ODD.values(), *(path.read_text() for path in FILES[::12])])
def test_text_and_range_are_those_that_libcst_gives(source: str) -> None:
    tree, text = text_of(source)
    expected = of_libcst(source)
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.expr)]
    compared, skipped = 0, of_formats(tree)
    for node in nodes:
        around = text.range_of(node)
        if isinstance(node, PLACED_ELSEWHERE) or id(node) in skipped:
            continue
        assert around in expected, ast.unparse(node)
        assert lines_of(text.text_of(node)) == lines_of(expected[around])
        compared += 1
    assert compared > 3 or len(nodes) < 4


def lines_of(text: str) -> list[str]:
    """The lines of a text; libcst leaves the indentation of the block out."""
    return [line.strip() for line in text.split("\n")]


def of_formats(tree: ast.Module) -> set[int]:
    """The text between the fields of f-strings, and their formats, which are no expressions of their own."""
    strings = [each for each in ast.walk(tree) if isinstance(each, ast.JoinedStr)]
    formats = [each.format_spec for each in ast.walk(tree) if isinstance(each, ast.FormattedValue)]
    texts = [value for string in strings for value in string.values if isinstance(value, ast.Constant)]
    return {id(each) for each in (*texts, *formats)}


@pytest.mark.parametrize(
    ("source", "head"),
    [
        ("if a: b()\n", "if a:"),
        ("for x in (\n    y\n):  # z\n    b()\n", "for x in (\n    y\n):"),
        ("def f(x: int = (1), /, *y) -> z: pass\n", "def f(x: int = (1), /, *y) -> z:"),
        ("try:\n    a\nfinally:\n    b\n", "try:"),
        ("with a as b: c\n", "with a as b:"),
        ("if a:  # b: c\n    d\n", "if a:"),
        ("x = a\n", "x = a"),
    ],
)
def test_the_text_of_a_statement_with_a_body_is_its_head(source: str, head: str) -> None:
    tree, text = text_of(source)
    assert text.text_of(tree.body[0]) == head


def test_an_edit_keeps_the_parentheses_of_others_and_the_text_between() -> None:
    tree, text = text_of("y = (f((a),  # keep\n  b.c, d))\n")
    call = tree.body[0].value  # type: ignore[attr-defined]
    a, bc, _ = call.args
    assert text.edited(call, {a: "A", bc: "(B)"}) == "f(A,  # keep\n  (B), d)"
    assert text.edited(call, {bc: "B", bc.value: "inside"}) == "f((a),  # keep\n  B, d)"
    assert text.edited(call, {bc.value: "b2"}) == "f((a),  # keep\n  b2.c, d)"
    assert text.edited(bc, {a: "elsewhere"}) == "b.c"
