"""A statement that does nothing changes no finding, however the engine has come to know the rest of the program."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

from syncscan.check.engine import Engine
from syncscan.check.files import Source
from syncscan.check.result import CheckResult
from syncscan.model import Conventions
from tests.check.changing import asked, source
from tests.check.marks import Program, programs

_MOST = 4  # functions of a file


@pytest.mark.parametrize("program", programs(), ids=lambda program: program.title)
def test_a_statement_that_does_nothing_changes_no_finding(program: Program) -> None:
    if sys.version_info < (3, program.python):
        pytest.skip(f"is for Python 3.{program.python}")
    sources = {
        path: source(path.removesuffix(".py").replace("/", "."), text)
        for path, text in program.files.items()
        if path.endswith(".py")
    }
    engine = Engine(Conventions())
    first = said(asked(engine, sources)[0])
    for path, whole in sources.items():
        for edited in with_a_statement_more(whole):
            now = {**sources, path: edited}
            again = said(asked(engine, now)[0])
            if again != first:  # as where one statement more makes another function of it
                assert again == said(asked(Engine(Conventions()), now)[0])
    assert said(asked(engine, sources)[0]) == first


def with_a_statement_more(whole: Source) -> Iterator[Source]:
    """Yield a file with a statement in the body of one function after another."""
    lines = whole.text.splitlines()
    functions = [each for each in ast.walk(ast.parse(whole.text)) if isinstance(each, ast.FunctionDef)]
    for function in functions[:_MOST]:
        at = function.body[-1]
        if at.lineno > function.lineno and not lines[at.lineno - 1][: at.col_offset].strip():
            head = getattr(at, "decorator_list", ())
            number = min([at.lineno, *(each.lineno for each in head)]) - 1
            more = f"{' ' * at.col_offset}_unused = 1"
            yield replace(whole, text="\n".join([*lines[:number], more, *lines[number:], ""]))


def said(result: CheckResult) -> Counter[tuple[object, ...]]:
    """Return the findings without their lines."""
    return Counter(
        (f.path, f.function, f.code, f.expression, f.confidence, re.sub(r"\d+", "N", f.message), f.when)
        for f in result.findings
    )
