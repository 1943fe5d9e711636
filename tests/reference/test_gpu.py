"""On a real GPU: the blocking forms wait as often as their marks say, the sync-free ones never."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import pytest
import torch

from syncscan.reference import chunks, uploads
from tests.reference.pairs import PAIRS, STANDARD, Pair, metadata_of, process_group
from tests.reference.test_pairs import plain

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a real NVIDIA GPU"),
]
BUSY_CYCLES = 100_000_000  # about 50 ms; every call takes the host less than 5 ms where nothing waits


@pytest.fixture(scope="module")
def device() -> Iterator[torch.device]:
    device = torch.device("cuda", 0)
    with process_group(device):
        yield device


def waits(call: Callable[[], object]) -> int:
    """How often torch says that the call made the host wait."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        try:
            call()
        finally:
            torch.cuda.set_sync_debug_mode("default")
    return sum("called a synchronizing CUDA operation" in str(warning.message) for warning in seen)


def runs_ahead(call: Callable[[], object]) -> bool:
    """Whether the call returns while a kernel that was queued before it still runs."""
    torch.cuda.synchronize()
    torch.cuda._sleep(BUSY_CYCLES)
    kernel_done = torch.cuda.Event()
    kernel_done.record()
    call()
    return not kernel_done.query()


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_only_the_blocking_form_waits(pair: Pair, device: torch.device) -> None:
    blocking, sync_free = pair.make(STANDARD, device)
    assert plain(sync_free()) == plain(blocking())
    for call in (blocking, sync_free):
        call()  # what is allocated or compiled once is there
    assert (waits(blocking), waits(sync_free)) == (pair.waits, 0)
    assert (runs_ahead(blocking), runs_ahead(sync_free)) == (False, True)


def test_what_is_left_of_waiting_waits_once(device: torch.device) -> None:
    _, metadata = metadata_of(STANDARD, device)
    values, cu_seqlens = torch.ones(8, 1, device=device), torch.tensor([0, 8], device=device)
    assert waits(lambda: metadata.seq_lens_cpu) == 1
    assert waits(lambda: chunks.chunked_cumsum(values, cu_seqlens)) == 1


def test_a_pinned_buffer_that_is_refilled_too_early_sends_the_new_content(device: torch.device) -> None:
    kept = torch.ones(4, pin_memory=True)
    torch.cuda._sleep(BUSY_CYCLES)
    sent = kept.to(device, non_blocking=True)
    kept.fill_(2)
    assert sent.tolist() == [2, 2, 2, 2]


def test_uploads_are_pinned_and_survive_a_changed_source(device: torch.device) -> None:
    assert uploads.staging((2,), torch.int32, device).is_pinned()
    source = torch.arange(1 << 20)
    torch.cuda._sleep(BUSY_CYCLES)
    sent = uploads.upload(source, device)
    source.zero_()
    again = [uploads.upload(source, device) for _ in range(3)]
    assert torch.equal(sent.cpu(), torch.arange(1 << 20))
    assert not any(copy.any() for copy in again)
