"""An instruction takes nothing back within a round: the value would stay, and rest on the order in which the instructions ran."""

from __future__ import annotations

import textwrap

import pytest

from syncscan.check.infer.domain.crossing import crossing, without_via
from syncscan.check.infer.domain.lattice import at_most, join
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue
from syncscan.check.infer.solve.solver import Solver
from syncscan.check.infer.source.indexer import index_module
from syncscan.check.infer.source.lines import Lines
from syncscan.check.infer.source.trees import tree_of
from syncscan.check.infer.transfer.conditions import elements_of
from syncscan.check.infer.transfer.operands import tensors_in
from syncscan.model import Conventions, Device, Kind
from syncscan.ops import load_table

# The solver knows the results of the module before the results of `late` and `later`.
START = """
    import numpy as np
    import torch
    def late():
        return torch.zeros(3, device="cuda")
    def later():
        return late()
"""
PROGRAMS = {
    "a second caller passes the GPU": """
        def double(x):
            return x * 2
        def use(x):
            return double(x)
        double(torch.zeros(3))
        double(later())
    """,
    "no argument names a device": """
        def make(n, where=None):
            return torch.zeros(n, device=where)
        def use(n):
            return make(n, None)
        make(3, torch.device("cpu"))
        make(3, later().device)
    """,
    "a result of a method that others replace": """
        class Base:
            def double(self, x):
                return x
        class Below(Base):
            def double(self, x):
                return x * 2
        def use(x):
            return Base().double(x)
        Base().double(torch.zeros(3))
        Base().double(later())
    """,
    "an argument comes back": """
        def same(x, flag):
            if flag:
                return x * 2
            return x
        def use(x):
            return same(x, True)
        use(torch.zeros(3, device="cuda"))
    """,
    "an array may be in pinned memory": """
        def array():
            return np.zeros(3)
        def main():
            return torch.from_numpy(array())
    """,
    "an index may be a tensor or an array": """
        def either(flag):
            return torch.zeros(3, dtype=torch.long) if flag else array()
        def array():
            return numbers()
        def numbers():
            return np.zeros(3)
        def main():
            x = torch.zeros(0)
            return x[either(True)]
    """,
    "an object is of one of two classes of a package": """
        from transformers import AutoProcessor, AutoTokenizer
        class Box:
            def __init__(self):
                self.made = AutoProcessor.from_pretrained("x")
            def fill(self):
                self.made = tokenizer()
            def read(self):
                return self.made("a", return_tensors="pt")["input_ids"]
        def tokenizer():
            return AutoTokenizer.from_pretrained("x")
    """,
    "None is no exception": """
        class Fault(Exception):
            pass
        def fault():
            return Fault()
        def main(flag):
            x = fault() if flag else None
            if isinstance(x, Exception):
                return x
    """,
    "a list beside a tensor is empty": """
        def rows(flag):
            return torch.zeros(3) if flag else listed()
        def listed():
            return []
        def main(flag):
            return torch.cat([torch.zeros(3), rows(flag)])
    """,
    "a method returns its object or a text": """
        class Base:
            def inner(self):
                x = self
                if x.name():
                    return x.name()
                return x
            def name(self):
                return "a"
        class Below(Base):
            def use(self):
                return self.inner()
    """,
    "the second operand of a reduction may be a tensor": """
        def main():
            return torch.max(torch.zeros(3, 3), other())
        def other():
            return torch.zeros(3)
    """,
    "a bound may be no integer": """
        def main():
            return torch.arange(0, bound())
        def bound():
            return 3.0
    """,
    "a conversion may be a move": """
        def main():
            return torch.zeros(3, dtype=torch.int, device="cuda").to(kind())
        def kind():
            return torch.float32
    """,
    "a device is left out on one path": """
        class Box:
            def __init__(self):
                self.device = torch.device("cpu")
            def use(self, flag):
                where = self.found() if flag else None
                return torch.zeros(3, device=where), torch.zeros(3).to(where)
            def found(self):
                return late().device
    """,
    "a device is the CPU or another": """
        def where(flag):
            return torch.device("meta") if flag else late_host()
        def late_host():
            return torch.device("cpu")
        def main(flag):
            place = torch.device("cpu") if flag else where(flag)
            return torch.zeros(3, device=place), torch.zeros(3, device="cuda").to(place)
    """,
    "an item is stored in one of several": """
        def main(flag):
            x = torch.zeros(3) if flag else listed()
            x[0] = "a"
            return x[0]
        def listed():
            return [1]
    """,
    "a tensor or an array is reduced": """
        def either(flag):
            return torch.zeros(3, 3) if flag else array()
        def array():
            return np.load("a")
        def main(flag):
            return torch.sum(either(flag), 0), torch.cumsum(either(flag), 0)
    """,
    "a text or an unknown function equals a text": """
        def either(flag):
            return "a" if flag else unknown()
        def unknown():
            import somewhere
            return somewhere.name
        def main(flag, x):
            return either(flag) == x
    """,
}  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_no_instruction_takes_a_value_back(program: str) -> None:
    text = textwrap.dedent(START) + textwrap.dedent(PROGRAMS[program])
    module = index_module("m", "m.py", tree_of(text), Lines(text), is_package=False)
    solver = Solver([module], load_table(), Conventions())
    solver.solve(lambda *_: None)
    assert not solver.defects
    assert not solver.falls


def test_the_number_of_elements_does_not_fall_across_a_call() -> None:
    none_yet, one = (AbstractValue(Kind.TENSOR, Device.CPU, count=count) for count in (0, 1))
    assert at_most(none_yet, one)
    assert at_most(crossing(none_yet), crossing(one))


def test_of_several_values_each_may_decide_the_place() -> None:
    tensor, empty = AbstractValue(Kind.TENSOR, Device.MIXED), AbstractValue(Kind.LIST, element=BOTTOM)
    filled = AbstractValue(Kind.LIST, element=AbstractValue(Kind.TENSOR, Device.CUDA))
    (less,), (more,) = (tensors_in(join(tensor, each)) for each in (empty, filled))
    assert at_most(less, more)


def test_what_nested_functions_see_rises() -> None:
    placed = AbstractValue(Kind.TENSOR, Device.CUDA, via=frozenset({"x"}))
    one = join(AbstractValue(Kind.NONE), placed)
    assert at_most(without_via(one), without_via(join(one, AbstractValue(Kind.NUMBER))))


@pytest.mark.parametrize(("made", "count"), [(True, 0), (False, None)])
def test_a_tensor_is_empty_for_sure_only_where_it_is_made(made: bool, count: int | None) -> None:
    empty = AbstractValue(Kind.TENSOR, Device.CPU, count=0)
    assert elements_of(empty if made else crossing(empty)) == count
