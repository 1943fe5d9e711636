"""The reference components under simulation: the blocking forms wait at their marks, the others never."""

from __future__ import annotations

import contextlib
import linecache
from collections.abc import Iterator

import pytest

torch = pytest.importorskip("torch")

from syncscan.simulate.context import SimulatedSync, simulated_cuda  # noqa: E402
from tests.reference.pairs import PAIRS, STANDARD, Pair, process_group  # noqa: E402
from tests.reference.test_pairs import plain  # noqa: E402

# Calls that wait twice on a GPU: there are more waits than marked lines. The simulator counts calls.
TWICE = {"build_spec_decode_metadata": 1}


@pytest.fixture
def seen() -> Iterator[list[SimulatedSync]]:
    # other tests of the session may have made a group already
    has_group = torch.distributed.is_initialized()
    group = contextlib.nullcontext() if has_group else process_group(torch.device("cuda", 0))
    with simulated_cuda() as syncs, group:
        yield syncs


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_only_the_blocking_form_waits(pair: Pair, seen: list[SimulatedSync]) -> None:
    blocking, sync_free = pair.make(STANDARD, torch.device("cuda", 0))
    assert plain(sync_free()) == plain(blocking())
    seen.clear()
    sync_free()
    assert seen == []
    blocking()
    assert [sync for sync in seen if "# expect: SYN" not in linecache.getline(sync.path, sync.line)] == []
    assert len(seen) == pair.waits - TWICE.get(pair.name, 0)
