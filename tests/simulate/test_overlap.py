"""Blocks of ``simulated_cuda`` in several threads and tasks: each lasts until its own end, and all leave no trace."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from syncscan.simulate.context import simulated_cuda


def wait_for_the_gpu() -> None:
    assert torch.ones(3, device="cuda").sum().item() == 3


def is_simulated() -> bool:
    try:
        return torch.ones(1, device="cuda").is_cuda
    except (AssertionError, RuntimeError) as error:  # a build for the CPU, or no driver
        assert "CUDA" in str(error)  # noqa: PT017 (one of two things that are right)
        return False


@contextlib.contextmanager
def another_thread():
    """A function that runs what it is given on one other thread, which is there already."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()
        yield lambda work: pool.submit(work).result()


def test_a_block_that_began_first_may_end_first() -> None:
    first, second = simulated_cuda(), simulated_cuda()
    first.__enter__()
    seen = second.__enter__()
    first.__exit__(None, None, None)
    wait_for_the_gpu()
    second.__exit__(None, None, None)
    assert len(seen) == 1


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without a GPU")
@pytest.mark.parametrize("ends_first", ["here", "there"])
def test_blocks_of_two_threads_overlap(ends_first: str) -> None:
    here, there = simulated_cuda(), simulated_cuda()
    with another_thread() as run:
        here.__enter__()
        run(there.__enter__)
        blocks: list[tuple[Callable[..., object], Callable[[Callable[[], object]], object]]] = [
            (here.__exit__, lambda work: work()),
            (there.__exit__, run),
        ]
        (end, where), (end_other, where_other) = blocks if ends_first == "here" else blocks[::-1]
        where(lambda: end(None, None, None))
        assert where_other(is_simulated)
        assert not where(is_simulated)
        where_other(lambda: end_other(None, None, None))
        assert not where(is_simulated)
        assert not where_other(is_simulated)


def test_a_thread_that_was_there_before_may_have_a_block_of_its_own() -> None:
    with another_thread() as run, simulated_cuda():

        def work() -> int:
            with simulated_cuda() as seen:
                wait_for_the_gpu()
            return len(seen)

        assert run(work) == 1


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without a GPU")
def test_a_block_may_end_in_another_thread() -> None:
    block = simulated_cuda()
    with another_thread() as run:
        run(block.__enter__)
        assert run(is_simulated)
        block.__exit__(None, None, None)
        assert not torch.cuda.is_available()
        assert run(lambda: torch.ones(2).add(1).tolist()) == [2, 2]
        assert not run(is_simulated)

        def again() -> tuple[int, int]:
            with simulated_cuda() as seen:
                wait_for_the_gpu()
            return len(seen), torch._C._len_torch_function_stack()

        assert run(again) == (1, 0)


def test_tasks_overlap_and_see_each_its_own() -> None:
    async def task(name: int, began: asyncio.Event, ended: asyncio.Event) -> list[int]:
        with simulated_cuda() as seen:
            began.set()
            for _ in range(name):
                wait_for_the_gpu()
                await asyncio.sleep(0)
            if name == 1:
                pass  # it ends at once, while the other is in its block
            else:
                await ended.wait()
                wait_for_the_gpu()
        ended.set()
        return [sync.line for sync in seen]

    async def both() -> list[list[int]]:
        began, ended = asyncio.Event(), asyncio.Event()
        long = asyncio.create_task(task(3, began, ended))
        await began.wait()
        return await asyncio.gather(task(1, began, ended), long)

    short_lines, long_lines = asyncio.run(both())
    assert (len(short_lines), len(long_lines)) == (1, 4)


def test_a_default_device_may_outlast_a_block() -> None:
    with contextlib.ExitStack() as stack:
        first = simulated_cuda()
        first.__enter__()
        stack.enter_context(simulated_cuda())
        stack.enter_context(torch.device("cuda"))
        first.__exit__(None, None, None)
        assert torch.zeros(2).is_cuda


def test_a_thread_without_a_block_tells_every_block() -> None:
    with simulated_cuda() as seen:
        thread = threading.Thread(target=wait_for_the_gpu)
        thread.start()
        thread.join()
    assert len(seen) == 1


def test_a_thread_may_outlive_the_simulation() -> None:
    go, results = threading.Event(), []

    def work() -> None:
        go.wait()
        results.append((torch.ones(2) + 1).tolist())

    with simulated_cuda():
        thread = threading.Thread(target=work)
        thread.start()
    go.set()
    thread.join()
    assert results == [[2, 2]]


def test_many_threads_begin_and_end_as_they_like() -> None:
    def work(number: int) -> int:
        total = 0
        for _ in range(5):
            with simulated_cuda() as seen:
                for _ in range(number % 3):
                    wait_for_the_gpu()
            total += len(seen)
        return total

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(16))) == [5 * (number % 3) for number in range(16)]
