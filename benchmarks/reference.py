"""What the sync-free components gain on a GPU. Run from the root: ``python -m benchmarks.reference``.

Part one: how long one call keeps the host, behind a kernel of 1 ms, for each pair. Part two: steps per
second, and the time from the start of a lone step to its token, of a small decode loop that calls every
component: all blocking, all sync-free, and with the components of one report at a time blocking.
``--json FILE`` also writes the figures.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import click
import torch

from tests.reference.pairs import PAIRS, STANDARD, Batch, Call, process_group

LAYERS = 8
WIDTH = 7168  # one layer is one square bfloat16 matrix product: about 1 ms on an H200
IN_EACH_LAYER = ("mamba_mixer",)
BEFORE_LAYERS = (
    *("add_request", "sequence_length_bound", "max_seq_len", "drop_rejected_tokens", "slice_micro_batch"),
    *("cross_attention_context", "mla_context_lens", "build_spec_decode_metadata"),
    *("all_reduce_counts", "upload", "compressed_token_type_ids", "pad_logits_indices"),
    "chunked_cumsum",
)
AFTER_LAYERS = ("count_penalty_bins", "apply_bad_words", "gather_logprobs", "reorder_ngram_rows")
# What the report of a pull request claims for it; the others claim no figure.
CLAIMS = {"#38047": "7% throughput, 20% time to first token"}

DECODE_BATCH = Batch.of(
    [
        *[(100 + 7 * i, 1, -1, 0) for i in range(22)],
        *[(150 + 9 * i, 4, 3, i % 4) for i in range(8)],
        *[(0, 90, -1, 0), (64, 64, -1, 0)],
    ],
    split=60,
)


def busy_cycles(milliseconds: float) -> int:
    """Cycles of ``torch.cuda._sleep`` that take so long here."""
    start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(1_000_000)
    start.record()
    torch.cuda._sleep(20_000_000)
    stop.record()
    stop.synchronize()
    return int(20_000_000 * milliseconds / start.elapsed_time(stop))


def host_microseconds(call: Call, cycles: int, repeats: int = 30) -> float:
    """Median time that one call keeps the host, behind a kernel of ``cycles``; of none where 0."""
    times = []
    for _ in range(repeats):
        torch.cuda.synchronize()
        if cycles:
            torch.cuda._sleep(cycles)
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    torch.cuda.synchronize()
    return statistics.median(times[5:]) * 1e6


class DecodeLoop:
    """Steps that prepare, run the layers and sample; the token of a step is read during the next."""

    def __init__(self, calls: dict[str, Call], device: torch.device) -> None:
        self.calls = calls
        weights = torch.randn(LAYERS, WIDTH, WIDTH, dtype=torch.bfloat16, device=device) / WIDTH**0.5
        self.layers = list(weights)
        self.hidden = torch.randn(WIDTH, WIDTH, dtype=torch.bfloat16, device=device)
        self.tokens = [torch.zeros(1, dtype=torch.int64, pin_memory=True) for _ in range(2)]
        self.arrived = [torch.cuda.Event() for _ in range(2)]

    def step(self, number: int) -> None:
        """Queue one step; its token lands in ``tokens[number % 2]`` when ``arrived`` says so."""
        for name in BEFORE_LAYERS:
            self.calls[name]()
        hidden = self.hidden
        for layer in self.layers:
            hidden = hidden @ layer
            for name in IN_EACH_LAYER:
                self.calls[name]()
        for name in AFTER_LAYERS:
            self.calls[name]()
        self.tokens[number % 2].copy_(hidden[0].argmax().reshape(1), non_blocking=True)
        self.arrived[number % 2].record()

    def steps_per_second(self, steps: int = 40) -> float:
        """Throughput with one step in flight while the next is prepared."""
        torch.cuda.synchronize()
        start = time.perf_counter()
        for number in range(steps):
            self.step(number)
            self.arrived[(number - 1) % 2].synchronize()
        torch.cuda.synchronize()
        return steps / (time.perf_counter() - start)

    def milliseconds_to_token(self) -> float:
        """From an idle GPU to the token on the host."""
        torch.cuda.synchronize()
        start = time.perf_counter()
        self.step(0)
        self.arrived[0].synchronize()
        return (time.perf_counter() - start) * 1e3


def median_of(
    loops: dict[str, DecodeLoop], measure: Callable[[DecodeLoop], float], rounds: int
) -> dict[str, float]:
    """The median of interleaved rounds for each loop, so that a slow phase of the machine hits all."""
    seen: dict[str, list[float]] = {name: [] for name in loops}
    for _ in range(rounds + 1):
        for name, loop in loops.items():
            seen[name].append(measure(loop))
    return {name: statistics.median(values[1:]) for name, values in seen.items()}


def measure_pairs(device: torch.device) -> list[dict[str, object]]:
    """Part one; the last two columns are the same calls with nothing to wait for."""
    cycles, rows = busy_cycles(1.0), []
    click.echo("host time per call, us".center(77))
    click.echo(f"{'':42}{'behind a 1 ms kernel':>21}{'on an idle GPU':>21}")
    head = ("blocking", "sync-free")
    click.echo(f"{'component':<28}{'report':<9}{'syncs':>5}" + "".join(f"{h:>10}" for h in head * 2))
    for pair in PAIRS:
        calls = pair.make(STANDARD, device)
        times = [host_microseconds(call, busy) for busy in (cycles, 0) for call in calls]
        columns = "".join(f"{time:>10.0f}" for time in times)
        click.echo(f"{pair.name:<28}{pair.report:<9}{pair.waits:>5}{columns}")
        rows.append({"name": pair.name, "report": pair.report, "waits": pair.waits, "microseconds": times})
    return rows


def measure_loops(device: torch.device) -> dict[str, dict[str, float]]:
    """Part two."""
    made = {pair.name: (pair.report, *pair.make(DECODE_BATCH, device)) for pair in PAIRS}
    reports = sorted({report for report, _, _ in made.values()})

    def loop(blocking: list[str]) -> DecodeLoop:
        calls = {
            name: (before if report in blocking else after) for name, (report, before, after) in made.items()
        }
        return DecodeLoop(calls, device)

    loops = {
        "sync-free": loop([]),
        "blocking": loop(reports),
        **{report: loop([report]) for report in reports},
    }
    return {
        "steps_per_second": median_of(loops, DecodeLoop.steps_per_second, rounds=5),
        "milliseconds_to_token": median_of(loops, DecodeLoop.milliseconds_to_token, rounds=15),
    }


def print_loops(figures: dict[str, dict[str, float]]) -> None:
    """One line for each loop, and what the sync-free one gains over it."""
    rate, latency = figures["steps_per_second"], figures["milliseconds_to_token"]
    click.echo(f"\n{'blocking components':<22}{'steps/s':>9}{'gain':>8}{'ms to token':>13}{'gain':>8}")
    for name in rate:
        label = {"sync-free": "none", "blocking": "all"}.get(name, f"those of {name}")
        faster = rate["sync-free"] / rate[name] - 1
        sooner = 1 - latency["sync-free"] / latency[name]
        line = f"{label:<22}{rate[name]:>9.1f}{faster:>8.1%}{latency[name]:>13.2f}{sooner:>8.1%}"
        click.echo(line + (f"   the report: {CLAIMS[name]}" if name in CLAIMS else ""))


@click.command()
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the figures here too.")
def main(json_path: Path | None) -> None:
    """Measure every pair, then the decode loop."""
    if not torch.cuda.is_available():
        raise click.ClickException("no NVIDIA GPU here: this benchmark measures how long one is waited for")
    device = torch.device("cuda", 0)
    click.echo(f"{torch.cuda.get_device_name()}, torch {torch.__version__}\n")
    with process_group(device):
        pairs, loops = measure_pairs(device), measure_loops(device)
    print_loops(loops)
    if json_path:
        json_path.write_text(json.dumps({"pairs": pairs, "loops": loops}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
