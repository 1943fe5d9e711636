"""What is kept of containers, callables and literals, up to which bound, and when two values are the same."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace

import pytest

from syncscan.check import infer
from syncscan.check.infer.domain import basic
from syncscan.check.infer.domain.basic import BOOL, FALSE, FLOAT, INT, NONE, NUMBER, STRING, TRUE
from syncscan.check.infer.domain.callables import BoundMethod, Partial, key_of
from syncscan.check.infer.domain.lattice import join, join_all, union
from syncscan.check.infer.domain.value import BOTTOM, TOP, AbstractValue
from syncscan.model import Device, Kind

ON_GPU = AbstractValue(Kind.TENSOR, Device.CUDA)
ON_HOST = AbstractValue(Kind.TENSOR, Device.CPU)
MAKERS: list[Callable[[AbstractValue], AbstractValue]] = [
    basic.list_of,
    lambda item: basic.list_of(item, Kind.DICT),
    lambda item: basic.sequence([item], Kind.TUPLE),
    lambda item: basic.table({"key": item}),
    lambda item: basic.record(None, [item]),
]


@pytest.mark.parametrize("make", MAKERS)
def test_three_containers_in_one_another_are_followed_and_no_fourth(
    make: Callable[[AbstractValue], AbstractValue],
) -> None:
    def held(value: AbstractValue) -> AbstractValue:
        return basic.element_of(value)

    three = make(make(make(ON_GPU)))
    assert [value.depth for value in (ON_GPU, make(ON_GPU), three)] == [0, 1, 3]
    assert held(held(held(three))) == ON_GPU
    assert held(held(held(make(three)))) is BOTTOM
    assert join(three, NONE).depth == 3
    assert held(make(join(make(make(ON_GPU)), NONE))) == join(make(make(ON_GPU)), NONE)


def test_a_sequence_keeps_sixteen_items() -> None:
    items = [ON_GPU, *[ON_HOST] * 15]
    assert basic.sequence(items, Kind.LIST).items == tuple(items)
    longer = basic.sequence([*items, ON_HOST], Kind.LIST)
    assert (longer.items, longer.element) == (None, join(ON_GPU, ON_HOST))


def test_three_callables_that_hold_arguments_are_followed_and_no_fourth() -> None:
    bare = AbstractValue(Kind.FUNCTION, payload="torch.add")

    def nested(count: int, value: AbstractValue) -> AbstractValue:
        for _ in range(count):
            value = basic.partial_of(value, [ON_GPU], {})
        return value

    three = nested(3, bare)
    assert key_of(three) == "torch.add(1,)(1,)(1,)"
    assert basic.partial_of(three, [], {}) == TOP
    given, named = nested(2, bare), basic.list_of(nested(3, bare))
    kept = basic.partial_of(bare, [given, three], {"more": ON_HOST, "named": named}).payload
    assert kept == Partial(bare, (given, TOP), (("more", ON_HOST), ("named", TOP)))
    method = AbstractValue(Kind.FUNCTION, payload=BoundMethod(_Defined("f"), nested(2, bare)))
    assert basic.partial_of(method, [ON_GPU], {}) == TOP
    held = basic.partial_of(bare, [basic.sequence([INT, nested(1, bare)], Kind.LIST)], {})
    assert basic.partial_of(held, [], {}).kind is Kind.FUNCTION


class _Defined:
    def __init__(self, key: str) -> None:
        self.key = key


def test_a_slice_has_its_bounds_where_one_is_more_than_a_number() -> None:
    assert basic.slice_of([NUMBER, NONE]) is basic.slice_of([basic.constant(3), NONE])
    assert basic.slice_of([ON_GPU, NONE]) == AbstractValue(Kind.SLICE, items=(ON_GPU, NONE))
    one, two = basic.list_of(INT), basic.list_of(basic.list_of(INT))
    assert basic.slice_of([one, two]).items == (one, basic.list_of(BOTTOM))


def test_literals_are_kept_where_they_may_decide_something() -> None:
    assert basic.constant(None) is NONE
    assert (basic.constant(True), basic.constant(False)) == (TRUE, FALSE)
    assert basic.constant(1) == AbstractValue(Kind.NUMBER, dtype="int", payload=1)
    assert basic.constant(1).payload is not True
    assert basic.constant(1.5) == FLOAT
    assert basic.constant(1j) == NUMBER
    assert basic.constant("x" * 79).payload == "x" * 79
    assert basic.constant("x" * 80) == STRING
    assert [basic.constant(each).payload for each in (b"x", ...)] == ["builtins.bytes", "builtins.ellipsis"]


def test_a_dictionary_knows_what_is_under_each_key() -> None:
    known = basic.table({"a": ON_GPU, 1: INT})
    assert basic.item_of_table(known, basic.constant("a")) == ON_GPU
    assert basic.item_of_table(known, basic.constant(1)) == INT
    assert basic.item_of_table(known, basic.constant("b")) == BOTTOM
    assert basic.item_of_table(known, STRING) == join(INT, ON_GPU)
    assert basic.item_of_table(known, TRUE) == join(
        INT, ON_GPU
    )  # `True` is 1, and the text does not say which
    over = basic.put(known, basic.constant("a"), ON_HOST)
    assert basic.item_of_table(over, basic.constant("a")) == ON_HOST
    somewhere = basic.put(known, STRING, ON_HOST)
    assert basic.item_of_table(somewhere, basic.constant("a")) == join(ON_GPU, ON_HOST)
    assert basic.item_of_table(somewhere, basic.constant("b")) == ON_HOST
    twice = basic.put(somewhere, STRING, ON_GPU)
    assert basic.item_of_table(twice, basic.constant("b")) == join(ON_GPU, ON_HOST)
    of_all = basic.put(basic.list_of(ON_GPU, Kind.DICT), basic.constant("a"), INT)
    assert basic.item_of_table(of_all, basic.constant("a")) == join(ON_GPU, INT)


def test_a_dictionary_that_is_updated_has_what_the_other_has() -> None:
    one, other = basic.table({"a": ON_GPU, "b": INT}), basic.table({"b": ON_HOST})
    assert basic.updated(one, other) == basic.table({"a": ON_GPU, "b": ON_HOST})
    rest = basic.put(other, STRING, ON_GPU)
    both = basic.updated(basic.put(one, STRING, INT), rest)
    assert basic.item_of_table(both, basic.constant("z")) == join(INT, ON_GPU)
    assert basic.item_of_table(basic.updated(one, rest), basic.constant("z")) == ON_GPU
    unknown = basic.updated(one, basic.list_of(ON_HOST, Kind.DICT))
    assert basic.item_of_table(unknown, basic.constant("a")) == join(ON_GPU, ON_HOST)
    assert basic.updated(basic.list_of(ON_GPU, Kind.DICT), other) == basic.list_of(
        join(ON_GPU, ON_HOST), Kind.DICT
    )


def test_what_is_in_a_value() -> None:
    def of_array(ndim: int | None) -> AbstractValue:
        return basic.element_of(AbstractValue(Kind.NDARRAY, ndim=ndim))

    def of_tensor(ndim: int | None) -> AbstractValue:
        return basic.element_of(replace_ndim(ndim))

    def replace_ndim(ndim: int | None) -> AbstractValue:
        return basic.refine(ON_GPU, ndim=ndim)

    assert [of_tensor(ndim).ndim for ndim in (None, 0, 1, 2)] == [None, None, 0, 1]
    assert [(value.kind, value.ndim) for value in map(of_array, (None, 2, 1))] == [
        (Kind.NDARRAY, None), (Kind.NDARRAY, 1), (Kind.NUMBER, None),
    ]  # fmt: skip
    assert basic.element_of(STRING) == STRING
    assert basic.element_of(NUMBER) == BOTTOM
    assert basic.element_of(AbstractValue(Kind.TUPLE, items=())) == BOTTOM
    either = join_all([basic.list_of(ON_GPU), NONE, basic.sequence([INT, ON_HOST], Kind.TUPLE)])
    assert basic.element_of(either) == join_all([ON_GPU, INT, ON_HOST])
    table = basic.table({"a": ON_GPU})
    assert (basic.iterated(table), basic.iterated(basic.list_of(INT))) == (BOTTOM, INT)
    assert basic.refine(ON_GPU, device=Device.CUDA) is ON_GPU


@pytest.mark.parametrize(
    ("value", "holds"),
    [
        (ON_GPU, True), (basic.refine(ON_GPU, device=Device.MIXED), True), (ON_HOST, False),
        (AbstractValue(Kind.DEVICE, Device.CUDA), True), (basic.constant("cuda:1"), True),
        (basic.constant("not cuda"), False), (STRING, False), (BOOL, False),
        (basic.sequence([INT, ON_GPU], Kind.TUPLE), True), (basic.sequence([INT, ON_HOST], Kind.TUPLE), False),
        (basic.list_of(ON_GPU), True), (basic.list_of(ON_HOST), False), (basic.list_of(basic.list_of(ON_GPU)), True),
    ],
)  # fmt: skip
def test_what_holds_something_on_the_gpu(value: AbstractValue, holds: bool) -> None:
    assert value.holds_gpu is holds


DEFINED = _Defined("f")


def test_what_a_callable_holds_tells_it_apart_and_never_changes() -> None:
    method, partial = BoundMethod(DEFINED, ON_GPU), Partial(STRING, (INT,), (("x", ON_GPU),))
    assert (method.inside, partial.inside) == ((ON_GPU,), (STRING, INT, ON_GPU))
    receiver = AbstractValue(Kind.INSTANCE, payload=_Defined("C"))
    assert BoundMethod(DEFINED, receiver).key == "f of C"
    assert (
        Partial(AbstractValue(Kind.FUNCTION, payload=DEFINED), (), (("x", INT), ("y", INT))).key == "f(0,x,y)"
    )
    assert key_of(union((receiver, NONE, receiver))) == "C|"
    with pytest.raises(FrozenInstanceError):
        method.receiver = ON_HOST  # type: ignore[misc]  # what is frozen refuses
    with pytest.raises(FrozenInstanceError):
        partial.args = ()  # type: ignore[misc]  # what is frozen refuses
    assert {replace(method), method} == {method}


def test_what_is_passed_on_never_changes() -> None:
    """All that evaluations share: what is made on the way is named here."""
    made_on_the_way = {
        "Candidate", "Outcome", "Loop", "ModuleEdit", "Consequences", "_Names", "Merged", "FunctionIR", "Trace",
        "Parameter", "Function", "Virtual", "Class", "Module", "AbstractValue",
        "UnreadFunction", "UnreadClass", "UnreadModule",
    }  # fmt: skip
    modules = [
        importlib.import_module(each.name)
        for each in pkgutil.walk_packages(infer.__path__, f"{infer.__name__}.")
    ]
    classes = {each for module in modules for each in vars(module).values() if dataclasses.is_dataclass(each)}
    found = {
        each.__name__
        for each in classes
        if each.__module__.startswith(infer.__name__) and not each.__dataclass_params__.frozen
    }
    assert found <= made_on_the_way
