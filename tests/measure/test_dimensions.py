"""What the table says of the dimensions of results holds for the samples of torch's own database, on the CPU."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch.utils._pytree import tree_leaves

from syncscan.measure.opinfo import entries, public_name
from syncscan.ops import load_table
from syncscan.ops.dimensions import SIZE, Shapes, learn, relative

SAMPLES = 40


def calls_of(name: str) -> Iterator[Shapes]:
    entry = entries()[name]
    dtype = next((each for each in (torch.float32, torch.int64, torch.bool) if each in entry.dtypes), None)
    samples = () if dtype is None else entry.sample_inputs("cpu", dtype)
    for sample in itertools.islice(samples, SAMPLES):
        given = (sample.input, sample.args, sample.kwargs)
        if "reduction" in sample.kwargs:  # has a form of its own
            continue
        result = entry(sample.input, *sample.args, **sample.kwargs)
        results, operands = (
            [leaf.ndim for leaf in tree_leaves(each) if isinstance(leaf, torch.Tensor)]
            for each in (result, given)
        )
        if results:
            yield Shapes(results, operands)


def disagreements() -> tuple[list[tuple[str, int | str, Shapes]], int]:
    """Return the calls whose results have other dimensions than the table says, and the number of calls tried."""
    table, wrong, tried = load_table(), [], 0
    for name in entries():
        operation = table.operations.get(public_name(name))
        if (
            operation is None
            or operation.reduces
            or operation.forms
            or operation.result not in {"input", "view"}
        ):
            continue
        said = operation.ndim
        decides = relative(said)
        if decides is None and not isinstance(said, int):
            continue
        for call in calls_of(name):
            operands = decides.decisive([*call.operands]) if decides else []
            if decides is None or operands:
                expected = max(operands) + decides.more if decides else said
                tried += 1
                if set(call.results) != {expected}:
                    wrong.append((name, said, call))
    return wrong, tried


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_results_have_as_many_dimensions_as_the_table_says():
    # torch describes the whole call stack for each operation, and that of a thread is short.
    with ThreadPoolExecutor(1) as thread:
        wrong, tried = thread.submit(disagreements).result()
    assert not wrong
    assert tried > 3000


@pytest.mark.parametrize(
    ("calls", "said"),
    [
        ([Shapes([2], [2]), Shapes([3], [1, 3])], "operands"),
        ([Shapes([1], [1, 3]), Shapes([2], [2, 1])], "first"),
        ([Shapes([1], [2, 1]), Shapes([3], [2, 3])], "second"),
        ([Shapes([3], [2, 2]), Shapes([4], [3, 3])], "operands+1"),
        ([Shapes([1], [2]), Shapes([0], [1])], "operands-1"),
        ([Shapes([2], [1]), Shapes([2], [3])], 2),
        ([Shapes([3], [1], 3), Shapes([1], [4], 1)], SIZE),
        ([Shapes([2], [1])], "varies"),
        ([Shapes([1], [1]), Shapes([2], [3])], "varies"),
        ([Shapes([1, 2], [2])], "varies"),
        ([], "varies"),
    ],
)
def test_the_first_statement_that_holds_for_all_calls_is_learnt(calls: list[Shapes], said: int | str):
    assert learn(calls) == said
