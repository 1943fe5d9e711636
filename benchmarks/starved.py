"""Starved time held against the kernels' own timeline, on programs whose answer is known; and what measuring it costs.

    python -m benchmarks.starved [ROUNDS]

needs a CUDA GPU; the decode loop needs transformers, and vLLM's is left out where there is none. Each program runs twice: under
`syncscan trace --starved`, which holds some of its steps against the timeline of these very steps, and
under torch.profiler, whose timeline says from the end of each wait to the next kernel or copy how long the GPU was idle.
Prints for each the starved time a step by all, and what is known of it; then the overhead of a
trace with and without --starved over the untraced loop.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib.util
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from benchmarks.vllm_models import config

STEPS, WARMUP = 300, 10
PROFILED = 60  # of them under the profiler, whose files are large
SLEEP = 0.002
Interval = tuple[float, float]
Step = Callable[[], object]


def host_sleeps() -> Step:
    """A kernel of about a millisecond, a read of its result, and a host that then sleeps for 2 ms."""
    import torch  # noqa: PLC0415 (the script that compares needs no torch)

    number = torch.ones((), device="cuda")

    def one() -> None:
        torch.cuda._sleep(1_500_000)
        number.add_(1)
        number.item()
        time.sleep(SLEEP)

    return one


def second_stream() -> Step:
    """The same beside a stream that has work for the whole time: the GPU never starves."""
    import torch  # noqa: PLC0415 (the script that compares needs no torch)

    busy = torch.cuda.Stream()
    number = torch.ones((), device="cuda")

    def one() -> None:
        with torch.cuda.stream(busy):
            torch.cuda._sleep(10_000_000)
        number.add_(1)
        number.item()
        time.sleep(SLEEP)

    return one


def decode() -> Step:
    """One token of a transformer with random weights, with 2 waits."""
    from benchmarks.trace_overhead import decode as made  # noqa: PLC0415 (needs transformers)

    return made()


def components(*, blocking: bool) -> Step:
    """A step of `benchmarks.reference`'s decode loop: all of syncscan's components in one of their two forms."""
    import torch  # noqa: PLC0415 (the script that compares needs no torch)

    from benchmarks import reference  # noqa: PLC0415 (needs torch)

    device = torch.device("cuda", 0)
    stack = contextlib.ExitStack()
    stack.enter_context(reference.process_group(device))
    atexit.register(stack.close)
    forms = {pair.name: pair.make(reference.DECODE_BATCH, device) for pair in reference.PAIRS}
    loop = reference.DecodeLoop({name: calls[0 if blocking else 1] for name, calls in forms.items()}, device)
    numbers = itertools.count(2)

    def one() -> None:
        number = next(numbers)
        loop.step(number)
        loop.arrived[(number - 1) % 2].synchronize()

    return one


def vllm_steps() -> Step:
    """A step of vLLM's engine in this process: 16 requests, a tiny model of random weights, sampled tokens."""
    os.environ |= {
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
        "VLLM_USE_FLASHINFER_SAMPLER": "0",
        "HF_HUB_OFFLINE": "1",
    }
    from vllm import LLM, SamplingParams  # noqa: PLC0415 (the script that compares needs no vLLM)
    from vllm.inputs import TokensPrompt  # noqa: PLC0415 (the script that compares needs no vLLM)

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "config.json").write_text(json.dumps(config("llama")), encoding="utf-8")
        engine = LLM(
            model=folder,
            load_format="dummy",
            skip_tokenizer_init=True,
            max_model_len=512,
            gpu_memory_utilization=0.3,
            enforce_eager=True,
        ).llm_engine
    for number in range(16):
        options = SamplingParams(max_tokens=400, ignore_eos=True, detokenize=False, top_p=0.9)
        engine.add_request(str(number), TokensPrompt(prompt_token_ids=[*range(8, 40)]), options)
    return engine.step


PROGRAMS = {
    "host_sleeps": (host_sleeps, "2.06 ms or somewhat more: the sleep"),
    "second_stream": (second_stream, "0"),
    "decode": (decode, "not known beforehand"),
    "blocking": (functools.partial(components, blocking=True), "not known beforehand"),
    "sync-free": (functools.partial(components, blocking=False), "0"),
    **({"vllm": (vllm_steps, "not known beforehand")} if importlib.util.find_spec("vllm") else {}),
}


def step(one: Step) -> None:
    """What a trace takes for the step."""
    one()


def run(name: str) -> None:
    """Run a program: a few steps, of which the first are warm-up."""
    from benchmarks import starved  # noqa: PLC0415 (the module whose step is wrapped, and not this script)

    one = PROGRAMS[name][0]()
    for _ in range(STEPS + WARMUP):
        starved.step(one)


def profile(name: str) -> None:
    """Print as JSON the nanoseconds a step for which the GPU is idle after the waits of a program."""
    from torch.profiler import ProfilerActivity, profile  # noqa: PLC0415 (needs torch)

    one = PROGRAMS[name][0]()
    for _ in range(WARMUP):
        one()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiled:
        for _ in range(PROFILED):
            one()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        profiled.export_chrome_trace(str(path))
        events = json.loads(path.read_text())["traceEvents"]
    print(json.dumps({"idle_ns": 1e3 * sum(idle_after(*timeline(events))) / PROFILED}))


_WAITS = ("cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize")
_ON_GPU = ("kernel", "gpu_memcpy", "gpu_memset")


def timeline(events: Iterable[dict[str, object]]) -> tuple[list[float], list[Interval]]:
    """When waits end, and when the GPU is at work, in microseconds, of the events of a Chrome trace."""
    ends, work = [], []
    for event in events:
        if event.get("ph") != "X":
            continue
        began, lasted = float(event["ts"]), float(event["dur"])  # type: ignore[arg-type]
        if event.get("cat") in _ON_GPU:
            work.append((began, began + lasted))
        elif event.get("name") in _WAITS:
            ends.append(began + lasted)
    return ends, work


def idle_after(ends: Iterable[float], work: Iterable[Interval]) -> Iterator[float]:
    """From the end of each wait to the next work of the GPU; nothing where it is at work, or has none any more.

    Of waits with no work between them each has the time up to the next, as a trace counts it.
    """
    work = sorted(work)
    starts = [began for began, _ in work]
    last_end = 0.0
    busy_until = [last_end := max(last_end, end) for _, end in work]
    ends = sorted(ends)
    for end, following in zip(ends, [*ends[1:], float("inf")], strict=True):
        at = bisect_left(starts, end)
        if at < len(starts) and (at == 0 or busy_until[at - 1] <= end):
            yield min(starts[at], following) - end


def traced(name: str) -> tuple[float, dict[str, float]]:
    """Nanoseconds a step for which a trace says that the GPU starved; and what it has checked."""
    with tempfile.TemporaryDirectory() as folder:
        options = ["--starved", "--step", "benchmarks.starved:step", "--warmup", WARMUP, "-o", folder]
        command = [sys.executable, "-m", "syncscan", "trace", *options, "--"]
        program = [sys.executable, "-c", f"from benchmarks.starved import run; run({name!r})"]
        done = subprocess.run([*map(str, command), *program], capture_output=True, text=True, check=False)
        trace = json.loads((Path(folder) / "trace.json").read_text())
    steps = trace["steps"]["steady"]
    assert steps == STEPS, done.stderr
    sites = [site for site in trace["sites"] if site["in_step"] and site["phase"] == "steady"]
    for process in trace["processes"]:
        for note in process.get("notes", ()):
            print(f"{name:14} {note}")
    starved = sum(site["starved_ns"]["total"] for site in sites if site["starved_ns"]) / steps
    return starved, trace["starved_check"] or {"steps": 1, "starved_ns": 0, "timeline_ns": 0}


def compare() -> None:
    """Print for each program both figures."""
    for name, (_, known) in PROGRAMS.items():
        command = [sys.executable, "-c", f"from benchmarks.starved import profile; profile({name!r})"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        try:
            idle = json.loads(done.stdout.splitlines()[-1])["idle_ns"]
            starved, check = traced(name)
        except (IndexError, OSError, AssertionError, ValueError) as error:
            print(f"{name:14} failed: {error!r} {done.stderr[-500:]}")
            continue
        launches, kernels = check["starved_ns"] / check["steps"], check["timeline_ns"] / check["steps"]
        print(
            f"{name:14} trace {starved / 1e6:8.4f} ms a step, profiler {idle / 1e6:8.4f} ({_ratio(starved, idle)});"
            f" in {check['steps']} same steps: trace {launches / 1e6:8.4f}, kernels {kernels / 1e6:8.4f} ({_ratio(launches, kernels)});"
            f" known: {known}",
            flush=True,
        )


def _ratio(one: float, other: float) -> str:
    return f"{one / other:.2f}" if other else "-"


def overhead(rounds: int) -> None:
    """Print what a trace costs, without and with starved time."""
    from benchmarks.trace_overhead import deep, measure, new_hook, report, small_kernels  # noqa: PLC0415 (needs torch)
    from syncscan.trace.hook._syncscan_hook.arm import arm  # noqa: PLC0415 (needs torch)
    from syncscan.trace.hook._syncscan_hook.hook import Hook  # noqa: PLC0415 (needs torch)

    @contextlib.contextmanager
    def tracing(hook: Hook, starved: bool) -> Iterator[None]:
        armed = arm("cupti", hook.recorder, print, print, starved=starved)
        hook._begin(armed)
        yield
        hook._begin([])
        for one in armed:
            one.disarm()

    hook = new_hook()
    variants = {
        "untraced": contextlib.nullcontext,
        "untraced again": contextlib.nullcontext,
        "trace": lambda: tracing(hook, False),
        "trace, starved": lambda: tracing(hook, True),
    }
    loops = {
        "100 kernels, no sync": (small_kernels(0), 200),
        "100 kernels, 5 item()": (small_kernels(5), 200),
        "the same, 24 frames deeper": (deep(small_kernels(5), 24), 200),
        "transformer decode": (decode(), 40),
    }
    for name, (one, number) in loops.items():
        report(name, measure(one, number, variants, rounds))


if __name__ == "__main__":
    compare()
    overhead(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
