"""Containers run the comparisons and hashes of their items."""

from __future__ import annotations

import pytest

from tests.check.prove.proving import proved

PROGRAM = """
class Own:
    def __init__(self, n: int) -> None:
        self.n = n
    def {method}(self{parameter}):
        return torch.ones(1, device="cuda").item() == 1
class Other:
    pass
def step(own: {cls}, owns: list[{cls}], ns: list[int], known: dict[{cls}, int], some: set[{cls}]) -> int:
    {code}
    return 2
"""
EQUAL = [
    "n = own in ns",
    "n = 3 in owns",
    "n = ns.index(own)",
    "n = owns.count(3)",
    "n = owns == ns",
    "n = [owns] != [ns]",
    "n = own in known",
    "n = own not in some",
]
ORDERED = ["n = sorted(owns)", "n = max(owns)", "owns.sort()", "n = owns < owns"]
HASHED = [
    "n = known[own]",
    "known[own] = 1",
    "n = known.get(own)",
    "known.setdefault(own, 1)",
    "some.add(own)",
    "n = {own}",
    "n = {own: 1}",
    "n = {each for each in owns}",
    "n = {each: 1 for each in owns}",
    "n = set(owns)",
]
CASES = [
    *((code, "__eq__", ", other") for code in EQUAL),
    *((code, "__lt__", ", other") for code in ORDERED),
    *((code, "__hash__", "") for code in HASHED),
]


@pytest.mark.parametrize(("code", "method", "parameter"), CASES)
def test_a_container_runs_the_methods_of_its_items(code: str, method: str, parameter: str) -> None:
    def lines(cls: str) -> set[int]:
        text = PROGRAM.format(code=code, method=method, parameter=parameter, cls=cls)
        return {each.finding.line for each in proved(text).obstacles}

    assert 7 in lines("Own")
    assert 7 not in lines("Other")


def test_a_text_or_none_is_searched_on_the_host() -> None:
    program = "def step(names, text: {kind}) -> int:\n    return 1 if text in names else 2\n"
    assert proved(program.format(kind="str | None")).is_proved
    assert not proved(program.format(kind="str | int")).is_proved


@pytest.mark.parametrize("code", ["one == other", "one < other", "one in others"])
@pytest.mark.parametrize(
    ("field", "is_proved"), [("torch.Tensor", False), ("list[torch.Tensor]", False), ("int", True)]
)
def test_a_record_is_compared_by_its_fields(code: str, field: str, is_proved: bool) -> None:
    program = f"""
        from dataclasses import dataclass
        @dataclass(order=True)
        class Inner:
            x: {field}
        @dataclass(order=True)
        class Outer:
            inner: Inner
        def step(one: Outer, other: Outer, others: list[Outer]) -> bool:
            return {code}
    """
    assert proved(program).is_proved is is_proved


def test_a_record_below_may_have_more_fields() -> None:
    program = """
        from dataclasses import dataclass
        @dataclass
        class A:
            x: int
        @dataclass
        class B(A):
            y: torch.Tensor
        def step(one: A, other: A) -> bool:
            return one == other
    """
    assert not proved(program).is_proved


@pytest.mark.parametrize(
    "base", ["dict", "collections.OrderedDict", "collections.UserList", "typing.Dict[str, torch.Tensor]"]
)
@pytest.mark.parametrize(
    ("code", "is_proved"),
    [("one == other", False), ("one in others", False), ("str(one)", False), ("len(others)", True)],
)
def test_an_object_that_is_a_container_is_compared_and_written_by_its_items(
    base: str, code: str, *, is_proved: bool
) -> None:
    program = f"""
        import collections
        import typing
        class Table({base}):
            pass
        def step(one: Table, other: Table, others: list[Table]) -> object:
            return {code}
    """
    assert proved(program).is_proved is is_proved
