"""What terms cost, when they hold, and what is learned from calls: the search prefers what says less, and what says where."""

from __future__ import annotations

import itertools
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from syncscan.measure.learn import Found, MeasuredCall, all_hold, cost, holds, learn, waits
from syncscan.ops import Term
from tests.measure.test_derive import tensor

# From what the search takes first to what it takes last; those of one line it takes as they come.
ORDER = [
    ["is gpu"],
    ["any is gpu"],
    ["is cpu", "is gpu device", "is cpu device", "is gpu sequence", "is gpu slice"],
    ["is gpu mask", "any is gpu sequence", "is gpu mask sequence"],
    ["is true"],
    ["is host data", "is not true"],
    [
        "is gpu scalar",
        "is gpu index",
        "is cpu index",
        "is cpu mask",
        "is not false",
        "is gpu index sequence",
        "is cpu index sequence",
    ],
    ["is number", "is sequence", "not given"],
    ["is scalar", "is pageable"],
    ["is pinned", "is false", "given"],
    ["is strided"],
    ["is bfloat16", "is not strided"],
    ["is tensor", "is not bfloat16"],
    ["is mask", "is uint8"],
    ["is not scalar"],
    ["is not gpu", "is not cpu mask"],
    ["is not number", "is not cpu device"],
    ["> 1048576 bytes"],
    ["> 1024 bytes"],
]


def term(text: str) -> Term:
    rest = text.removeprefix("any ")
    if "bytes" in rest:
        return Term("x", "bytes", size=int(rest.split()[1]))
    if rest.endswith("given"):
        return Term("x", "given", negated=rest.startswith("not"))
    kind = rest.removeprefix("is ").removeprefix("not ")
    return Term("any" if rest != text else "x", "is", kind, negated=rest.startswith("is not"))


def test_what_says_less_costs_less() -> None:
    costs = [{round(cost(term(text)), 9) for text in line} for line in ORDER[:-2]]
    assert [len(each) for each in costs] == [1] * len(costs)
    lowest = [min(each) for each in costs] + [cost(term(text)) for (text,) in ORDER[-2:]]
    assert all(one < other for one, other in itertools.pairwise(lowest))
    assert 0 < lowest[1] - lowest[0] < 0.1
    assert 2 < lowest[-1] + lowest[0] < 4 < lowest[-1] + 2 * lowest[0] < 5


GPU: dict[str, Any] = tensor(bytes=12)
CPU: dict[str, Any] = tensor("cpu", bytes=12)


def test_when_a_term_holds() -> None:
    def held(text: str, **args: Any) -> bool:
        return holds(term(text), args)

    none = {"is": "none"}
    assert [held("given", x=GPU), held("given", y=GPU), held("given", x=none)] == [True, False, False]
    assert [held("not given", x=GPU), held("not given"), held("not given", x=none)] == [False, True, True]
    assert [held("is gpu", x=GPU), held("is gpu", x=CPU), held("is gpu", y=GPU)] == [True, False, False]
    assert [held("is not gpu", x=GPU), held("is not gpu", x=CPU), held("is not gpu")] == [False, True, True]
    assert [held("any is gpu", y=GPU), held("any is gpu", y=CPU, z=GPU), held("any is gpu", y=CPU)] == [
        True,
        True,
        False,
    ]
    assert [held(f"> {size} bytes", x=GPU) for size in (11, 12, 13)] == [True, False, False]
    gpu, given = term("is gpu"), term("given")
    assert [all_hold((gpu, given), {"x": each}) for each in (GPU, CPU)] == [True, False]
    assert all_hold((), {})
    assert [waits([((given,), (gpu,))], {"x": each}) for each in (GPU, CPU)] == [False, True]
    assert [waits([((given,), ()), ((gpu,), ())], {"x": each}) for each in (GPU, CPU)] == [True, True]
    assert [waits([((gpu,), ())], {"x": CPU}), waits([], {"x": GPU})] == [False, False]


def learned(*calls: tuple[bool, dict[str, Any]], sizes: bool = False) -> list[tuple[list[str], bool]]:
    names = sorted({name for _, args in calls for name in args})
    found = learn([MeasuredCall(args, waited) for waited, args in calls], names, sizes=sizes)
    return [
        ([f"{each.arg} {'not ' * each.negated}{each.kind or each.test}" for each in one.when], one.sometimes)
        for one in found
    ]


def test_what_is_learned_from_calls() -> None:
    assert learned((True, {"x": GPU})) == [([], False)]
    assert learned((False, {"x": GPU})) == learned() == []
    assert learned((True, {"x": GPU}), (False, {"x": CPU})) == [(["x gpu"], False)]
    assert learned((False, {"x": GPU}), (True, {"x": CPU})) == [(["x cpu"], False)]
    assert learned((True, {"x": GPU}), (False, {"x": GPU})) == [([], True)]
    both = [(True, {"x": GPU, "y": CPU}), (False, {"x": GPU, "y": GPU}), (False, {"x": CPU, "y": CPU})]
    assert learned(*both) == [(["x gpu", "y cpu"], False)]
    either = [(True, {"x": GPU, "y": CPU}), (True, {"x": CPU, "y": GPU}), (False, {"x": CPU, "y": CPU})]
    assert learned(*either) == [(["any gpu"], False)]
    given = [(True, {"x": GPU, "y": GPU}), (False, {"x": GPU})]
    assert learned(*given) == [(["y gpu"], False)]
    small, large, none = ({"x": tensor("cpu", bytes=size, pinned=False)} for size in (64, 65, 0))
    on_gpu = (False, {"x": tensor(bytes=80)})
    assert learned((True, large), (False, small), (False, none), on_gpu, sizes=True) == [
        (["x cpu", "x bytes"], False)
    ]
    assert learned((True, large), (False, none), on_gpu, sizes=True) == [(["x cpu"], True)]
    assert learned((True, large), (False, small), on_gpu) == [(["x cpu"], True)]
    rare = [*either, (False, {"x": GPU, "y": CPU})]
    assert learned(*rare) == [(["y gpu"], False), (["x gpu"], True)]


def test_what_was_learned_does_not_change() -> None:
    for made, name in ((MeasuredCall({}, waited=True), "waited"), (Found(()), "sometimes")):
        with pytest.raises(FrozenInstanceError):
            setattr(made, name, False)
    assert Found(()).sometimes is False
