"""Proofs with runtime facts on variables: what the end of a call shows holds from where the name is bound for the last time."""

from __future__ import annotations

import ast
import contextlib
import sys
import textwrap
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncscan.check.prove.settled import settled_bindings
from syncscan.facts import FactSet, syntax_of
from tests.check.prove.proving import proved


def _is_proved(body: str, **words: dict[str, int]) -> bool:
    """Return whether `step` is proved, whose variables and parameters were seen with these values; ``x_bound`` is `x bound`."""
    program = "def step(x: torch.Tensor, n: int) -> object:\n" + textwrap.indent(
        textwrap.dedent(body), "    "
    )
    named = {name.replace("_bound", " bound"): counts for name, counts in words.items()}
    node, facts = ast.parse(program).body[0], FactSet()
    facts.of("program:step", syntax_of(node)).add(3, {" bound": {"none": 3}} | named)
    return proved(program, facts=facts).is_proved


@pytest.mark.parametrize(
    ("body", "is_proved"),
    [
        ("rate = x.rate\nreturn 1 if rate else 2", True),
        ("rate, other = x.rate, n\nreturn 1 if rate else 2", True),
        ("if n:\n    rate = x.rate\nelse:\n    rate = x.other\nreturn 1 if rate else 2", True),
        ("if (rate := x.rate):\n    return 1\nreturn 2", True),
        ("with torch.no_grad():\n    rate = x.rate\nreturn 1 if rate else 2", True),
        ("n = x.rate\nrate = 1\nreturn 1 if n else 2", False),  # of `n` nothing was seen
        ("for each in range(n):\n    rate = x.rate\n    if rate:\n        return 1", False),
        ("rate = x.rate\nif rate:\n    return 1\nrate = 2", False),  # the end shows the other
        ("rate = x.rate\nif rate:\n    n = 1\nif n:\n    rate = 2", False),
        ("rate = x.rate\ntry:\n    n = 1 if rate else 2\nexcept ValueError as rate:\n    pass", False),
        ("try:\n    rate = x.rate\n    n = 1 if rate else 2\nexcept ValueError:\n    rate = 2", False),
        ("rate = x.rate\nif rate:\n    return 1\ndel rate", False),
        ("rate = x.rate\ndef other():\n    nonlocal rate\n    rate = 1\nreturn 1 if rate else 2", False),
        ("global rate\nrate = x.rate\nreturn 1 if rate else 2", False),
    ],
)
def test_a_variable_is_what_the_end_of_calls_shows(body: str, *, is_proved: bool) -> None:
    assert _is_proved(body, rate_bound={"bool": 3}) is is_proved
    assert not _is_proved(body, rate_bound={"bool": 2, "gpu bool": 1})
    assert not _is_proved(body)


def test_a_variable_of_a_function_that_did_not_always_return_is_open() -> None:
    body = "rate = x.rate\nreturn 1 if rate else 2"
    assert not _is_proved(body, rate_bound={"bool": 2}, _bound={"none": 2})


def test_the_end_of_a_call_says_nothing_of_the_items_of_a_container_and_of_the_place_of_a_tensor() -> None:
    assert _is_proved("rows = x.rows\nreturn 1 if rows else 2", rows_bound={"dict[int]": 3})
    assert not _is_proved('rows = x.rows\nreturn 1 if rows["a"] else 2', rows_bound={"dict[int]": 3})
    assert not _is_proved(
        "rows, = x.rows,\nfor row in rows[0]:\n    n = 1 if row else 2", rows_bound={"tuple(list[int])": 3}
    )
    assert not _is_proved("weight = x.weight\nreturn 1 if weight else 2", weight_bound={"host float": 3})


ATTRIBUTES = """
class Box:
    def __init__(self, settings) -> None:
        for name in settings:
            setattr(self, name, settings[name])
def step(box: Box) -> int:
    return 1 if getattr(box, "rare", False) else 2
"""


@pytest.mark.parametrize(
    ("words", "is_proved"),
    [
        ({}, False),
        ({"absent": 3}, True),
        ({"absent": 2, "int": 1}, True),
        ({"absent": 2, "gpu int": 1}, False),
        ({"absent": 2}, False),  # of one object nothing is known
    ],
)
def test_an_attribute_that_was_absent_is_the_default(words: dict[str, int], *, is_proved: bool) -> None:
    node, facts = ast.parse(ATTRIBUTES).body[1], FactSet()
    seen = {"box.rare": words, "box.rare after": words} if words else {}
    facts.of("program:step", syntax_of(node)).add(3, {"box": {"object program.Box": 3}} | seen)
    assert proved(ATTRIBUTES, facts=facts).is_proved is is_proved
    without_default = ATTRIBUTES.replace(', "rare", False', ', "rare"')
    node = ast.parse(without_default).body[1]
    facts.of("program:step", syntax_of(node)).add(3, {"box": {"object program.Box": 3}} | seen)
    assert proved(without_default, facts=facts).is_proved is ("int" in words)


SET_FOR_A_WHILE = """
class Box:
    def __init__(self, settings) -> None:
        for name in settings:
            setattr(self, name, settings[name])
def step(box: Box, x: torch.Tensor) -> int:
    setattr(box, "rare", x)
    n = 1 if getattr(box, "rare", False) else 2
    delattr(box, "rare")
    return n
"""


def test_an_attribute_that_the_function_itself_sets_is_not_absent() -> None:
    node, facts = ast.parse(SET_FOR_A_WHILE).body[1], FactSet()
    seen = {"box": {"object program.Box": 3}, "box.rare": {"absent": 3}, "box.rare after": {"absent": 3}}
    facts.of("program:step", syntax_of(node)).add(3, seen)
    assert not proved(SET_FOR_A_WHILE, facts=facts).is_proved


_NAMES = ("a", "b", "c")


def _lines(parts: list[list[str]]) -> list[str]:
    return [line for part in parts for line in part]


def _blocks(depth: int) -> st.SearchStrategy[list[str]]:
    """Draw the lines of a block: each binding calls ``new``, each condition ``draw``."""
    name = st.sampled_from(_NAMES)
    simple = st.one_of(
        name.map(lambda each: [f"{each} = new('{each}')"]),
        name.map(lambda each: [f"{each}, d = new('{each}'), 0"]),
        st.sampled_from([["return"], ["if draw(): return"], ["if draw(): raise Oops"]]),
    )
    if not depth:
        return st.lists(simple, min_size=1, max_size=3).map(_lines)
    inner = _blocks(depth - 1)
    indented = inner.map(lambda block: [f"    {line}" for line in block])
    compound = st.one_of(
        st.builds(lambda one, two: ["if draw():", *one, "else:", *two], indented, indented),
        st.builds(lambda each, one: [f"if ({each} := new('{each}')) and draw():", *one], name, indented),
        indented.map(lambda block: ["while draw():", *block]),
        indented.map(lambda block: ["for e in range(2):", *block]),
        indented.map(lambda block: ["with swallows():", *block]),
        st.builds(
            lambda one, two, three: ["try:", *one, "except Oops:", *two, "finally:", *three],
            indented,
            indented,
            indented,
        ),
    )
    return st.lists(st.one_of(simple, compound), min_size=1, max_size=3).map(_lines)


class _OopsError(Exception):
    pass


class _Swallows:
    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> bool:
        return error[0] is _OopsError


def _ends(source: str, draws: Iterator[bool]) -> tuple[dict[int, tuple[str, int]], dict[str, object]]:
    """Run a function; return what each binding bound, by the number of the value, and the variables at its end."""
    bound: dict[int, tuple[str, int]] = {}

    def new(name: str) -> int:
        bound[len(bound) + 1] = (name, sys._getframe(1).f_lineno)
        return len(bound)

    end: dict[str, object] = {}

    def profile(frame: Any, event: str, _: object) -> None:
        if event == "return" and frame.f_code.co_name == "f":
            end.update(frame.f_locals)

    space: dict[str, Any] = {
        "new": new, "draw": lambda: next(draws, False), "swallows": _Swallows, "Oops": _OopsError,
    }  # fmt: skip
    exec(compile(source, "drawn", "exec"), space)
    sys.setprofile(profile)
    with contextlib.suppress(_OopsError):
        space["f"]()
    sys.setprofile(None)
    return bound, end


@settings(max_examples=300, deadline=None)
@given(_blocks(2), st.lists(st.booleans(), max_size=12))
def test_what_a_settled_binding_binds_is_there_at_the_end(block: list[str], draws: list[bool]) -> None:
    source = "\n".join(["def f():", *(f"    {line}" for line in block)])
    settled = {(each.id, each.lineno) for each in settled_bindings(ast.parse(source).body[0])}
    bound, end = _ends(source, iter(draws))
    for value, place in bound.items():
        if place in settled:
            assert end.get(place[0]) == value, source
