"""The kinds of value that a condition of the operation table may name, each defined once.

A kind is put together from a few facts about a value::

    KIND = ALTERNATIVE *(" | " ALTERNATIVE)        ALTERNATIVE = ["not "] FACT *(", " ["not "] FACT)

    is tensor, number, array, list, slice   what it is; a tuple or a dict is a list, an array is NumPy's; one of them
    on gpu, on host                         a tensor there
    dtype NAME ...                          of one of these dtypes, as torch names them
    dims N                                  of so many dimensions
    length N                                a list of so many elements
    equals VALUE ...                        one of these numbers or texts
    index                                   a tensor that picks positions: no mask, and of a dimension at least
    gaps                                    its elements have gaps between them, or another order than in memory
    permuted                                another order, and no gaps
    layout NAME ...                         its elements lie in one of these layouts, as torch names them
    coalesced, hybrid                       of layout sparse_coo, and names no element twice; its elements are tensors
    square                                  a matrix, or several, with as many rows as columns
    memory pinned, memory pageable          host memory of this sort
    true                                    a number, and true
    module gpu, module host                 an `nn.Module` whose parameters and buffers are there; it has at least one
    holds gpu                               a tensor on the GPU is among the elements, or the bounds of a slice
    holds host                              none is
    holds tensor host                       a tensor on the host is among the elements, or the values of a dict
    holds mask gpu, holds mask host         a mask there is among the elements
    holds index gpu, holds index host       an index of positions there is
    names gpu, names host                   a device argument that names the place

Three worlds answer the facts: `syncscan.ops.inferred` for what the static analysis knows of a value, where a fact may
be unknown; `syncscan.simulate.inside.kinds` for real values; `syncscan.measure.describe` for measured ones. In each
a fact is a function that takes what follows its name and returns a test of a value.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping
from typing import TypeVar

KINDS = {
    "gpu": "on gpu",
    "cpu": "on host",
    "gpu mask": "on gpu, dtype bool uint8",
    "cpu mask": "on host, dtype bool uint8",
    "cpu module": "module host",
    "gpu module": "module gpu",
    "gpu scalar": "on gpu, dims 0",
    "gpu index": "on gpu, index",
    "cpu index": "on host, index",
    "gpu slice": "is slice, holds gpu",
    "gpu sequence": "is list, holds gpu",
    "gpu mask sequence": "is list, holds mask gpu",
    "gpu index sequence": "is list, holds index gpu",
    "cpu index sequence": "is list, holds index host",
    "cpu state": "on host | holds tensor host",  # what a module is loaded from
    "gpu device": "names gpu",
    "cpu device": "names host",
    "host data": "is number array | on host | is list, holds host",
    "number": "is number",
    "sequence": "is list array",
    "pageable": "memory pageable",
    "pinned": "memory pinned",
    "scalar": "is number | dims 0",
    "true": "true",
    "false": "is number, not true",
    "tensor": "is tensor",
    "bfloat16": "is tensor, dtype bfloat16",
    "strided": "is tensor, gaps",
    "permuted": "is tensor, permuted",
    "square": "is tensor, square",
    "batch": "is tensor, not dims 0, not dims 1, not dims 2",
    "gpu matrix": "on gpu, dims 2",
    "pair": "is list, length 2",
    "singular": "equals 2 -2 nuc",  # the order of a norm that needs singular values
    "nuclear": "equals nuc",
    "sparse": "is tensor, not layout strided",
    "coo": "is tensor, layout sparse_coo",
    "coalesced": "is tensor, coalesced",
    "uncoalesced": "is tensor, layout sparse_coo, not coalesced",
    "compressed": "is tensor, layout sparse_csr sparse_csc sparse_bsr sparse_bsc",
    "hybrid": "is tensor, hybrid",
    "csr": "is tensor, layout sparse_csr",
    "csc": "is tensor, layout sparse_csc",
    "bsr": "is tensor, layout sparse_bsr",
    "bsc": "is tensor, layout sparse_bsc",
    "blocked": "is tensor, layout sparse_bsr sparse_bsc",
}

V = TypeVar("V")
Verdict = bool | None
Test = Callable[[V], Verdict]
TestMakers = Mapping[str, Callable[..., Test[V]]]
Alternative = dict[str, bool]  # each fact, and whether it has to hold


def alternatives(kind: str) -> tuple[Alternative, ...]:
    """Return the alternatives of a kind: a value is of the kind if all facts of one hold."""
    return _parsed(KINDS[kind])


@functools.cache
def _parsed(text: str) -> tuple[Alternative, ...]:
    return tuple(
        {fact.removeprefix("not "): not fact.startswith("not ") for fact in alternative.split(", ")}
        for alternative in text.split(" | ")
    )


def constants(words: Collection[str]) -> frozenset[float | str]:
    """Return the numbers and texts that "equals" names."""
    return frozenset(float(word) if word.lstrip("-").isdigit() else word for word in words)


def asks(kind: str, facts: Collection[str]) -> bool:
    """Return whether no value is of a kind unless one of these facts holds for it: "on gpu", or "on" for any place."""
    return all(
        any(holds and not {fact, fact.partition(" ")[0]}.isdisjoint(facts) for fact, holds in one.items())
        for one in alternatives(kind)
    )


def test_of(kind: str, facts: TestMakers[V]) -> Test[V]:
    """Return the test whether a value is of a kind, where these facts may be unknown: None where the facts leave that open."""
    tests = [
        [(facts[name](*parameters), holds) for (name, *parameters), holds in _words(one)]
        for one in alternatives(kind)
    ]

    def test(value: V) -> Verdict:
        found: Verdict = False
        for facts_of_one in tests:
            verdict = _all_hold(facts_of_one, value)
            if verdict:
                return True
            found = None if verdict is None else found
        return found

    return test


def _words(alternative: Alternative) -> list[tuple[list[str], bool]]:
    return [(fact.split(), holds) for fact, holds in alternative.items()]


def _all_hold(facts: list[tuple[Test[V], bool]], value: V) -> Verdict:
    found: Verdict = True
    for test, holds in facts:
        verdict = test(value)
        if verdict is None:
            found = None
        elif verdict is not holds:
            return False
    return found
