"""Both forms of each component give the same result on random batches."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tests.reference.pairs import PAIRS, STANDARD, Batch, Pair

CPU = torch.device("cpu")
computed = st.integers(0, 200)
decodes = st.tuples(computed, st.just(1), st.just(-1), st.just(0))
prefills = st.tuples(computed, st.integers(2, 150), st.just(-1), st.just(0))
drafting = st.integers(0, 3).flatmap(
    lambda n: st.tuples(computed, st.just(n + 1), st.just(n), st.integers(0, n))
)


@st.composite
def batches(draw: st.DrawFn) -> Batch:
    one_kind = draw(st.sampled_from([decodes, prefills, drafting, decodes | prefills | drafting]))
    requests = draw(st.lists(one_kind, max_size=8))
    tokens = sum(request[1] for request in requests)
    return Batch.of(requests, draw(st.integers(0, 3)), draw(st.integers(0, tokens)))


def plain(result: Any) -> Any:
    """What can be compared with ``==``: nested lists, and dtypes beside the numbers of a tensor."""
    if isinstance(result, torch.Tensor):
        return [str(result.dtype), list(result.shape), result.tolist()]
    if dataclasses.is_dataclass(result):
        return [plain(value) for value in vars(result).values()]
    if isinstance(result, tuple | list):
        return [plain(value) for value in result]
    return result


EMPTY = Batch.of([])
ONE_DECODE = Batch.of([(5, 1, -1, 0)])
ONE_PREFILL_SPLIT = Batch.of([(5, 10, -1, 0)], padding=2, split=4)
ALL_REJECTED = Batch.of([(5, 4, 3, 3), (7, 4, 3, 3)], split=5)


@pytest.mark.usefixtures("cpu_group")
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
@given(batch=batches())
@example(batch=EMPTY)
@example(batch=ONE_DECODE)
@example(batch=ONE_PREFILL_SPLIT)
@example(batch=ALL_REJECTED)
@example(batch=STANDARD)
def test_both_forms_give_the_same_result(pair: Pair, batch: Batch) -> None:
    assume(len(batch) or not pair.needs_requests)
    blocking, sync_free = pair.make(batch, CPU)
    assert plain(sync_free()) == plain(blocking())


@given(batch=batches())
def test_the_running_sum_in_chunks_is_the_running_sum(batch: Batch) -> None:
    pair = next(pair for pair in PAIRS if pair.name == "chunked_cumsum")
    _, sync_free = pair.make(batch, CPU)
    values = (torch.arange(int(batch.start_loc[-1]) * 3) % 7).float().reshape(-1, 3)
    expected = [part.cumsum(0) for part in values.split(np.diff(batch.start_loc).tolist())] or [values]
    assert torch.equal(sync_free(), torch.cat(expected))
