"""Every transfer function is monotone: of operands of which more is known it makes something of which more is known.

What is asked for by no stratum stays open here, as in the first stratum: an operand of which nothing is known yet is one that
may become anything.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from syncscan.check.infer.dataflow.state import State
from syncscan.check.infer.domain.basic import FLOAT, INT, NONE, STRING, constant, list_of
from syncscan.check.infer.domain.crossing import brought_by, crossing, moved, parts_of, without_host
from syncscan.check.infer.domain.lattice import REST, at_most, join, table_of
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue
from syncscan.check.infer.ir.instructions import CallSite, FunctionIR, Op
from syncscan.check.infer.solve.solver import Solver
from syncscan.check.infer.source.indexer import index_module
from syncscan.check.infer.source.lines import Lines
from syncscan.check.infer.source.trees import tree_of
from syncscan.check.infer.transfer.declared import without_arrays
from syncscan.check.infer.transfer.functions import placed_by, settled
from syncscan.check.infer.transfer.point import Point
from syncscan.check.infer.transfer.registry import INSTRUCTIONS
from syncscan.model import Confidence, Conventions, Device, Kind
from syncscan.ops import load_table
from tests.infer.drawn import number, placed, rising, tensor

FEW = settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    derandomize=True,
)  # fmt: skip
MORE = settings(FEW, max_examples=200)
Pair = tuple[AbstractValue, AbstractValue]
TEXT = "def f(): pass\n"
MODULE = index_module("m", "m.py", tree_of(TEXT), Lines(TEXT), is_package=False)
SOLVER = Solver([MODULE], load_table(), Conventions())
SITE = CallSite(2)


def point(operands: Sequence[AbstractValue]) -> Point:
    """Return an instruction of a function of a real project, over slots of these values; nothing is answered."""
    ir = FunctionIR()
    for _ in operands:
        ir.ops.append(Op.CONSTANT)
        ir.operands.append(())
        ir.data.append(...)
    ir.ops.append(Op.JOIN)
    ir.operands.append(tuple(range(len(operands))))
    ir.data.append(None)
    at = Point(SOLVER)
    at.stratum = 0
    at.stand_in(State(MODULE.functions[-1], ir, 0))
    at.number = len(operands)
    return at


def assert_monotone(
    transfer: Callable[[Point, Sequence[AbstractValue]], AbstractValue], pairs: Sequence[Pair]
) -> None:
    low, high = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    less, more = transfer(point(low), low), transfer(point(high), high)
    assert at_most(less, more), f"\n{low}\n  gives {less}\n{high}\n  gives {more}"


any_pair = rising()
array_pair = rising(st.one_of(placed, tensor, number))
name = st.sampled_from(["x", "device", "dtype", "shape", "T", "type", "x_cpu", "x_gpu", "payload"])
annotation = st.just(ast.parse("list[int]", mode="eval").body)
nothing = st.none()

# Of every instruction that is driven by values alone: what its operands are drawn from, and its data.
DRIVEN: dict[Op, tuple[st.SearchStrategy[list[Pair]], st.SearchStrategy[Any]]] = {
    Op.PHI: (st.lists(any_pair, min_size=1, max_size=3), nothing),
    Op.JOIN: (st.lists(any_pair, min_size=1, max_size=3), nothing),
    Op.ATTRIBUTE: (st.lists(any_pair, min_size=1, max_size=1), st.tuples(name, st.just(False))),
    Op.SUBSCRIPT: (st.lists(any_pair, min_size=2, max_size=2), nothing),
    Op.BINARY: (st.lists(st.one_of(array_pair, any_pair), min_size=2, max_size=2), st.sampled_from(["Add", "Mult", "Div", "BitAnd", "BitOr"])),
    Op.UNARY: (st.lists(any_pair, min_size=1, max_size=1), st.sampled_from(["Not", "USub", "Invert"])),
    Op.COMPARE: (st.lists(st.one_of(array_pair, any_pair), min_size=2, max_size=2), st.sampled_from([("Eq",), ("Lt",), ("Is",), ("In",)])),
    Op.TEXT: (st.lists(any_pair, max_size=1), st.booleans()),
    Op.SEQUENCE: (st.lists(any_pair, max_size=3), st.tuples(st.sampled_from([Kind.LIST, Kind.TUPLE]), st.sampled_from([(), (0,)]))),
    Op.SET: (st.lists(any_pair, max_size=2), nothing),
    Op.DICT: (st.lists(any_pair, min_size=2, max_size=2), nothing),
    Op.LIST_OF: (st.lists(any_pair, min_size=1, max_size=1), st.just(Kind.LIST)),
    Op.DICT_OF: (st.lists(any_pair, min_size=1, max_size=1), nothing),
    Op.SLICE: (st.lists(any_pair, min_size=1, max_size=2), nothing),
    Op.ITERATED: (st.lists(any_pair, min_size=1, max_size=1), nothing),
    Op.UNPACKED: (st.lists(any_pair, min_size=1, max_size=1), st.sampled_from([(0, 2, None), (1, 2, None), (0, 2, 1), (1, 2, 0)])),
    Op.STARRED: (st.lists(any_pair, min_size=1, max_size=1), st.sampled_from([(0, 1, 0), (1, 2, 1), (0, 2, 0)])),
    Op.ENTERED: (st.lists(any_pair, min_size=1, max_size=1), st.just(False)),
    Op.WITH_DEVICE: (st.lists(any_pair, min_size=2, max_size=2), nothing),
    Op.SET_DEVICE: (st.lists(any_pair, min_size=3, max_size=3), st.just(SITE)),
    Op.NAMED: (st.lists(any_pair, min_size=1, max_size=1), name),
    Op.ANNOTATED: (st.lists(any_pair, min_size=1, max_size=1), annotation),
    Op.AUGMENTED: (st.lists(st.one_of(array_pair, any_pair), min_size=2, max_size=2), st.sampled_from(["Add", "Mult"])),
    Op.ADDED: (st.lists(any_pair, min_size=2, max_size=2), st.sampled_from([CallSite(1, attribute=each) for each in ("append", "extend", "update")])),
    Op.PUT: (st.lists(any_pair, min_size=3, max_size=3), st.sampled_from([None, "Add"])),
    Op.STORED: (st.lists(any_pair, min_size=3, max_size=3), nothing),
    Op.EMPTIED: (st.lists(any_pair, min_size=1, max_size=1), nothing),
    Op.AFTER_CALL: (st.lists(any_pair, min_size=2, max_size=2), st.sampled_from([(0, ""), ("x", "fill")])),
    Op.RESIZED: (st.lists(any_pair, min_size=1, max_size=1), nothing),
    Op.CAPTURED_PATTERN: (st.lists(any_pair, min_size=1, max_size=1), st.just((0, 2))),
    Op.NOT_NONE: (st.lists(any_pair, min_size=1, max_size=1), nothing),
    Op.TRUE: (st.lists(any_pair, min_size=1, max_size=1), nothing),
    Op.TESTED: (st.lists(any_pair, min_size=2, max_size=2), st.tuples(st.booleans(), st.booleans())),
    Op.AT_PLACE: (st.lists(any_pair, min_size=1, max_size=1), st.sampled_from([Device.CUDA, Device.CPU])),
    Op.AT_DEVICE: (st.lists(st.one_of(array_pair, any_pair), min_size=2, max_size=2), nothing),
    Op.GATE: (st.lists(any_pair, min_size=2, max_size=2), nothing),
}  # fmt: skip
# Of the others, what they read is no value, or what they contribute is what `crossing` makes of one.
NOT_DRIVEN = {
    Op.CONSTANT, Op.PARAMETER, Op.ENTRY_DEVICE, Op.READ_NAME, Op.IMPORT, Op.LAMBDA, Op.REBOUND, Op.MAY_BE, Op.STORE_ATTRIBUTE,
    Op.STORE_ITEM, Op.DELETE_ITEM, Op.STORE_GLOBAL, Op.STORE_CAPTURED, Op.STORE_CLASS, Op.PUBLISH, Op.FILL, Op.RETURN, Op.YIELD, Op.RESULT, Op.LEFT_OUT,
    Op.MIRROR, Op.IS_INSTANCE, Op.CALL, Op.CALL_METHOD, Op.CALL_SUPER,
}  # fmt: skip


def test_every_instruction_is_named_here() -> None:
    assert set(INSTRUCTIONS) == {*DRIVEN, *NOT_DRIVEN}
    assert not NOT_DRIVEN & DRIVEN.keys()


@pytest.mark.parametrize("op", DRIVEN, ids=lambda op: op.name)
@FEW
@given(st.data())
def test_an_instruction_is_monotone(op: Op, data: st.DataObject) -> None:
    pairs, its_data = (data.draw(each) for each in DRIVEN[op])
    assert_monotone(lambda at, values: INSTRUCTIONS[op](at, values, its_data), pairs)


@pytest.mark.parametrize("held", [{}, {"a": INT}, {REST: INT}, {REST: BOTTOM}])
@FEW
@given(any_pair)
@example((BOTTOM, BOTTOM))
def test_who_does_not_know_the_key_knows_less(held: dict[Any, AbstractValue], pair: Pair) -> None:
    pairs = [(table_of(held), table_of(held)), (constant("a"), STRING), pair]
    assert_monotone(lambda at, values: INSTRUCTIONS[Op.PUT](at, values, None), pairs)


PLAIN = (INT, STRING, list_of(INT), join(NONE, list_of(list_of(FLOAT))), list_of(INT, Kind.DICT))


@FEW
@given(any_pair, st.sampled_from(PLAIN))
@example((AbstractValue(Kind.MOVED, Device.CUDA), AbstractValue(Kind.TENSOR, Device.CUDA)), INT)
def test_what_an_annotation_of_numbers_leaves_is_monotone(
    pair: tuple[AbstractValue, AbstractValue], promised: AbstractValue
) -> None:
    low, high = (without_arrays(each, promised) for each in pair)
    assert at_most(low, high)


PYTHON = (
    "list",
    "tuple",
    "sorted",
    "dict",
    "zip",
    "enumerate",
    "next",
    "sum",
    "max",
    "getattr",
    "slice",
    "map",
)
METHODS = ("get", "items", "values", "pop", "copy", "split", "format", "sum", "astype", "union")


@pytest.mark.parametrize("function", PYTHON)
@FEW
@given(st.lists(any_pair, min_size=1, max_size=2))
def test_a_call_of_python_is_monotone(function: str, pairs: list[Pair]) -> None:
    callee = AbstractValue(Kind.MODULE, payload=f"builtins.{function}")
    site = CallSite(len(pairs))
    assert_monotone(lambda at, values: INSTRUCTIONS[Op.CALL](at, values, site), [(callee, callee), *pairs])


@pytest.mark.parametrize("method", METHODS)
@FEW
@given(any_pair, st.lists(any_pair, max_size=2))
def test_a_call_of_a_method_is_monotone(method: str, receiver: Pair, pairs: list[Pair]) -> None:
    site = CallSite(len(pairs), attribute=method)
    assert_monotone(lambda at, values: INSTRUCTIONS[Op.CALL_METHOD](at, values, site), [receiver, *pairs])


@pytest.mark.parametrize("holds", [True, False])
@pytest.mark.parametrize("asked", ["torch.Tensor", "builtins.int", "builtins.list", "numpy.ndarray"])
@FEW
@given(any_pair)
def test_a_test_of_a_class_is_monotone(asked: str, holds: bool, pair: Pair) -> None:
    test, cls = (AbstractValue(Kind.MODULE, payload=each) for each in ("builtins.isinstance", asked))
    data = ((asked,), holds)
    assert_monotone(
        lambda at, values: INSTRUCTIONS[Op.IS_INSTANCE](at, values, data), [pair, (test, test), (cls, cls)]
    )


CHANGES = {
    "to another function": crossing,
    "to the host": partial(moved, device=Device.CPU),
    "off the host": without_host,
    "by a parameter": partial(brought_by, via=frozenset({"x"})),
}


_ON_HOST = AbstractValue(Kind.TENSOR, Device.CPU)
_ANYWHERE = AbstractValue(Kind.TENSOR, Device.MIXED, Confidence.ASSUMED)


@pytest.mark.parametrize("change", CHANGES)
@MORE
@given(any_pair)
@example((_ON_HOST, _ANYWHERE))
def test_a_change_of_place_is_monotone(change: str, pair: Pair) -> None:
    less, more = map(CHANGES[change], pair)
    assert at_most(less, more), f"{pair[0]}\n  gives {less}\n{pair[1]}\n  gives {more}"


def _holds_no_text(pair: Pair) -> bool:
    """A text names a device only while all callers pass the same, so it cannot rise."""
    return all(part.kind is not Kind.STRING for part in parts_of(pair[1], 9))


@MORE
@given(rising(tensor), st.lists(any_pair.filter(_holds_no_text), max_size=2))
def test_a_result_on_the_device_of_arguments_is_monotone(result: Pair, arguments: list[Pair]) -> None:
    """Each argument of the call may place the result of the function on the GPU."""

    def transfer(at: Point, values: Sequence[AbstractValue]) -> AbstractValue:
        value, *given = values
        names = "xy"[: len(given)]
        cells = [SOLVER.known.globals[MODULE, name] for name in names]
        value = settled(at, value, given)
        passed = [*zip(names, given, cells, strict=True)]
        return placed_by(at, value, passed, frozenset(names)) if value.holds_gpu else value

    assert_monotone(transfer, [result, *arguments])
