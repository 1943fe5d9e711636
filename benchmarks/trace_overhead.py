"""What tracing costs: the same loops untraced, traced, and under torch's own tools, interleaved in one run.

    python -m benchmarks.trace_overhead [ROUNDS]

needs a CUDA GPU; the decode loop needs transformers. Prints one table: median time of a step, and the
overhead over the untraced loop with the interval in which it lies (95%). The loop untraced a second
time shows what the machine's noise alone makes of it. Callbacks that do nothing, of C and of Python, show what CUPTI
and the way into Python cost: no trace by these callbacks costs less.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile
from torch.utils._python_dispatch import TorchDispatchMode

from syncscan.trace.hook._syncscan_hook import cupti
from syncscan.trace.hook._syncscan_hook.arm import arm
from syncscan.trace.hook._syncscan_hook.hook import Hook
from syncscan.trace.hook._syncscan_hook.part import TraceFile

Step = Callable[[], object]
Variants = dict[str, Callable[[], contextlib.AbstractContextManager[object]]]


def small_kernels(syncs: int) -> Step:
    """100 small kernels, and ``syncs`` reads of a number spread over them."""
    tensor, number = torch.zeros(64, device="cuda"), torch.ones((), device="cuda")
    blocks = max(syncs, 1)

    def step() -> None:
        for _ in range(blocks):
            for _ in range(100 // blocks):
                tensor.add_(1)
            if syncs:
                number.item()

    return step


def deep(step: Step, frames: int) -> Step:
    """The same step, called through ``frames`` more frames."""
    if frames == 0:
        return step
    inner = deep(step, frames - 1)
    return lambda: inner()  # noqa: PLW0108 (the frame is the point)


def decode() -> Step:
    """One token of a transformer with random weights."""
    from transformers import LlamaConfig, LlamaForCausalLM  # noqa: PLC0415 (only on a machine that has it)

    config = LlamaConfig(
        vocab_size=8192,
        hidden_size=1024,
        intermediate_size=2816,
        num_hidden_layers=12,
        num_attention_heads=16,
    )
    model = LlamaForCausalLM(config).to("cuda", torch.bfloat16).eval()
    token = torch.ones(4, 1, dtype=torch.int64, device="cuda")
    cache: list[object] = []

    @torch.inference_mode()
    def step() -> None:
        nonlocal token
        if not cache or len(cache) > 64:
            cache[:] = [None]
        out = model(input_ids=token, past_key_values=cache[-1], use_cache=True)
        cache.append(out.past_key_values)
        token = out.logits[:, -1:].argmax(-1)
        if (token == 8191).all().item():
            return
        token.tolist()

    return step


class PassThrough(TorchDispatchMode):
    """The least that a dispatch mode can do."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        return func(*args, **(kwargs or {}))


@contextlib.contextmanager
def traced(hook: Hook, detector: str) -> Iterator[None]:
    """The detector armed as in a trace; the flush every second goes on from the first time."""
    armed = arm(detector, hook.recorder, print, print)
    hook._begin(armed)
    yield
    hook._begin([])
    for one in armed:
        one.disarm()


@contextlib.contextmanager
def subscribed(hook: Hook, function: Any) -> Iterator[None]:
    """CUPTI makes the callbacks of a trace, to a function that does nothing."""
    detector = cupti.Cupti(hook.recorder, print, print, lambda: None)
    detector._function = function
    why_not = detector.arm()
    assert why_not is None, why_not
    yield
    detector.disarm()


_C: Any = ctypes.cast(ctypes.CDLL(None).abs, cupti._Callback)  # a function that only reads its first argument
_PYTHON: Any = cupti._Callback(lambda _user, _domain, _number, _data: None)


def loops() -> dict[str, tuple[Step, int]]:
    """What is measured, and how many steps a run has."""
    return {
        "100 kernels, no sync": (small_kernels(0), 200),
        "100 kernels, 5 item()": (small_kernels(5), 200),
        "the same, 24 frames deeper": (deep(small_kernels(5), 24), 200),
        "transformer decode": (decode(), 40),
    }


def new_hook() -> Hook:
    """A hook that writes into a folder of its own."""
    part = TraceFile(tempfile.mkdtemp())
    part.create()
    return Hook(folder=str(Path(part.path).parent), options={}, part=part)


def main(rounds: int) -> None:
    """Run and print."""
    hook = new_hook()
    variants: Variants = {
        "untraced": contextlib.nullcontext,
        "untraced again": contextlib.nullcontext,
        "callbacks in C": lambda: subscribed(hook, _C),
        "callbacks in Python": lambda: subscribed(hook, _PYTHON),
        "trace": lambda: traced(hook, "cupti"),
        "trace, debug mode": lambda: traced(hook, "debug-mode"),
        "trace, both": lambda: traced(hook, "both"),
        "TorchDispatchMode": PassThrough,
    }
    # The profiler keeps CUPTI once it has it, so it comes after everything else.
    with_profiler: Variants = {"untraced": contextlib.nullcontext, "torch.profiler": profiler}
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}")
    for name, (step, number) in loops().items():
        report(name, measure(step, number, variants, rounds))
    for name, (step, number) in loops().items():
        report(name, measure(step, number, with_profiler, 5))


def profiler() -> contextlib.AbstractContextManager[object]:
    """The profiler of torch, with stacks."""
    return profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], with_stack=True)


def measure(step: Step, number: int, variants: Variants, rounds: int) -> dict[str, list[float]]:
    """Microseconds a step, one figure a round and variant; each round in another order."""
    times: dict[str, list[float]] = {name: [] for name in variants}
    for _ in range(3 * number):
        step()
    for _ in range(rounds):
        for name in random.sample(list(variants), len(variants)):
            with variants[name]():
                step()
                torch.cuda.synchronize()
                start = time.perf_counter()
                for _ in range(number):
                    step()
                times[name].append((time.perf_counter() - start) / number * 1e6)
                torch.cuda.synchronize()
    return times


def report(loop: str, times: dict[str, list[float]]) -> None:
    """Print the rows of one loop; the overhead is the median over the rounds of that of each."""
    for name, figures in times.items():
        over = sorted(100 * (f / base - 1) for f, base in zip(figures, times["untraced"], strict=True))
        low, high = interval(over)
        print(
            f"{loop:26} {name:19} {statistics.median(figures):9.1f} us per step"
            f" {statistics.median(over):+7.1f}%  ({low:+.1f} to {high:+.1f}%, {len(over)} rounds)"
        )


def interval(ordered: list[float]) -> tuple[float, float]:
    """Where the median lies with a probability of 95%, by the ranks of the sample; all of it if it is small."""
    reach = math.ceil(0.98 * math.sqrt(len(ordered)) + 0.5)  # 1.96 standard deviations of a rank
    middle = len(ordered) // 2
    return ordered[max(middle - reach, 0)], ordered[min(middle + reach, len(ordered) - 1)]


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
