"""The walks do not depend on the order in which a proof computes them."""

from __future__ import annotations

import random
from itertools import permutations

import pytest

from syncscan.check.engine import Engine
from syncscan.check.files import Source
from syncscan.check.prove import everything as _everything  # noqa: F401 (it fills tables)
from syncscan.check.prove.assumptions import Assumptions
from syncscan.check.prove.cycles import lowest
from syncscan.check.prove.prover import Prover
from syncscan.check.prove.source import Definitions
from syncscan.model import Conventions
from tests.check.changing import changed, dedented, project, source
from tests.check.prove.proving import proved

# Each has values that are made of one another.
CYCLES = {
    "attribute of itself": """
        import torch

        class Padded:
            def __init__(self, count: int) -> None:
                self.length = int(count)
                while self.length % 4:
                    self.length = self.length + 1

        def length_of(padded: Padded):
            return padded.length

        def step():
            return Padded(3).length
    """,
    "attribute of a method that reads it": """
        import torch

        class Cache:
            def __init__(self) -> None:
                self.rows = self.made()

            def made(self):
                if self.wanted():
                    return self.rows
                return 3

            def wanted(self):
                return self.rows
    """,
    "functions that call one another": """
        import torch

        def even(n):
            if n:
                return odd(n)
            return 1

        def odd(n):
            return even(n)

        def endless(n):
            return other(n)

        def other(n):
            return endless(n)

        def step(n):
            return odd(n), endless(n)
    """,
    "a flag of a cycle": """
        import torch

        def flag(n):
            return True if n else bound(n)

        def bound(n):
            if flag(n) is None:
                return torch.ones(3, device="cuda")
            return None

        def step(n):
            if bound(n):
                return 1
            return 2
    """,
    "functions that return nothing": """
        import torch

        class Base:
            def step(self, n):
                raise NotImplementedError

            def run(self, n):
                return int(self.step(n)), self.last

            def again(self, n):
                self.last = self.run(n)[0]
                return self.last
    """,
    "variables of a module": """
        import torch

        def made():
            return width + 1

        def more():
            return [width, made()]

        if made():
            width = more()[0]
        else:
            width = 3
        height = width
    """,
}
_FEW = 5  # functions, up to which every order is tried


def results(sources: dict[str, Source], orders: int) -> list[dict[str, object]]:
    """The walks of all functions, by their names, for several orders."""
    engine = Engine(Conventions())
    engine.check([*sources.values()], None, lambda *_: None)
    assert engine.solver is not None
    definitions = Definitions(engine.solver)
    functions = [each for module in definitions.modules for each in module.functions]
    tried = [*permutations(functions)] if len(functions) <= _FEW else [tuple(functions)]
    for seed in range(orders - 1 if len(tried) == 1 else 0):
        shuffled = [*functions]
        random.Random(seed).shuffle(shuffled)
        tried.append(tuple(shuffled))
    found = []
    for order in tried:
        prover = Prover(definitions, Assumptions())
        for function in order:
            prover.walk(function)
        walks = {f"{each.module.name}:{each.qualname}": prover.walk(each) for each in functions}
        found.append({name: (walk.summary, {*walk.obstacles}) for name, walk in walks.items()})
    return found


@pytest.mark.parametrize("program", CYCLES.values(), ids=CYCLES.keys())
def test_no_value_depends_on_the_order(program: str) -> None:
    first, *others = results({"cycles": source("cycles", dedented(program))}, 30)
    assert all(other == first for other in others)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(8))
def test_no_value_of_a_changed_project_depends_on_the_order(seed: int) -> None:
    rng = random.Random(seed)
    sources = project()
    for _ in range(6):
        changed(rng, sources)
        first, *others = results(sources, 8)
        assert all(other == first for other in others)


MADE_OF_THEMSELVES = {
    "result": """
        def endless(n: int):
            return endless(n)
        def step(n: int) -> int:
            return int(endless(n))
    """,
    "variable of a module": """
        def made():
            return limit
        limit = made()
        def step() -> int:
            return int(limit)
    """,
    "test": """
        def wanted():
            return wanted()
        def step(x: torch.Tensor) -> int:
            if wanted():
                return x.item()
            return 3
    """,
    "variable behind a test": """
        def wanted():
            return wanted()
        if wanted():
            limit = torch.ones(1, device="cuda")
        def step() -> int:
            return int(limit)
    """,
    "name of an outer function": """
        def wanted():
            return wanted()
        def step() -> int:
            if wanted():
                limit = 3
            def inner() -> int:
                return int(limit)
            return inner()
    """,
}


@pytest.mark.parametrize("program", MADE_OF_THEMSELVES.values(), ids=MADE_OF_THEMSELVES.keys())
def test_what_is_made_of_itself_alone_may_be_anything(program: str) -> None:
    assert not proved(program).is_proved


def test_the_cycle_below_comes_first() -> None:
    reads = {"a": {"b"}, "b": {"c", "known"}, "c": {"b"}, "d": {"e"}, "e": set[str]()}
    assert lowest(reads, lambda node: node in "ac") == ({"d", "e"}, ["c"])
    assert lowest(reads, lambda node: node == "a") == ({"b", "c", "d", "e"}, ["a"])
