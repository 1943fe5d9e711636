"""Tabulate the synchronizations per step of vLLM, and the lines that block, by model and mode.

    python -m benchmarks.gallery_vllm /path/to/python            make what is missing, write the part of docs/gallery.md
    python -m benchmarks.gallery_vllm /path/to/python NAME ...   make these models anew
    python -m benchmarks.gallery_vllm /path/to/python --gpu --kept FILE    on a real GPU
    python -m benchmarks.gallery_vllm --compare FILE             hold the results of a GPU against the simulated ones

That Python has vLLM (tried with 0.25.1 and torch 2.11, both as they are for CUDA). The model with images needs pycountry too,
and for drafts transformers 5.17, as 5.23 refuses its placeholder. The GPU is simulated, nothing is
downloaded, and models are tiny with random weights. Each result is kept as soon as it is there
(`benchmarks/gallery_vllm.jsonl`), so an interrupted command goes on where it was. A run that takes longer than `--limit`
is ended. A rate is the synchronizations per step after three steps of warm-up.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.gallery_page import Runs, agreement, write_part
from benchmarks.vllm_models import EMBEDDING, MODELS, VISION, lora_target

KEPT = Path(__file__).with_name("gallery_vllm.jsonl")
ON_GPU = Path(__file__).with_name("gallery_vllm_h200.jsonl")
SOURCE = Path(__file__).resolve().parent.parent
MODES = ("plain", "chunked", "prefix-cached", "speculative", "LoRA")
TOKENS = 12
Found = dict[str, Any]
Results = dict[tuple[str, str], Found]


def modes_of(name: str) -> list[str]:
    """Return the modes that apply to a model."""
    without = {"LoRA"} if lora_target(name) is None else set()
    if name in EMBEDDING:
        without |= {"speculative", *(("chunked", "prefix-cached") if name.startswith("bert") else ())}
    return [mode for mode in MODES if mode not in without]


def read(kept: Path) -> Results:
    """Return the last result of each run."""
    lines = kept.read_text(encoding="utf-8").splitlines() if kept.exists() else []
    return {(found["model"], found["mode"]): found for found in map(json.loads, lines)}


def tidy(kept: Path) -> None:
    """Keep the last result of each run alone, and none of a run that is no longer made."""
    results = read(kept)
    found = [results[run] for run in all_runs() if run in results]
    kept.write_text("".join(f"{json.dumps(each)}\n" for each in found), encoding="utf-8")


def all_runs() -> list[tuple[str, str]]:
    """Return all models in all their modes."""
    return [(name, mode) for name in (*MODELS, *EMBEDDING, *VISION) for mode in modes_of(name)]


def make(
    python: str, runs: list[tuple[str, str]], kept: Path, limit: float, *, jobs: int, on_gpu: bool
) -> None:
    """Make these runs, so many at once."""
    environment = {
        **os.environ, "VLLM_ENABLE_V1_MULTIPROCESSING": "0", "VLLM_USE_FLASHINFER_SAMPLER": "0", "VLLM_NO_USAGE_STATS": "1",
        "VLLM_LOGGING_LEVEL": "ERROR", "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join([str(SOURCE), *filter(None, [os.environ.get("PYTHONPATH")])]),
        **({} if on_gpu else {"CUDA_VISIBLE_DEVICES": "0"}),
    }  # fmt: skip

    def make_some(some: list[tuple[str, str]]) -> None:
        command = [python, "-m", "benchmarks.gallery_vllm_runs", str(kept), *(":".join(run) for run in some)]
        command += ["--tokens", str(TOKENS), "--limit", str(limit), *(["--gpu"] if on_gpu else [])]
        with tempfile.TemporaryDirectory() as folder:
            tracer = [sys.executable, "-m", "syncscan", "trace", "--simulate", "--output", folder, "--"]
            subprocess.run([*(() if on_gpu else tracer), *command], env=environment, check=True)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(make_some, [some for first in range(jobs) if (some := runs[first::jobs])]))


def versions_of(python: str) -> str:
    """Return the versions of vLLM and torch there."""
    asked = "import importlib.metadata as m; print(f\"vLLM {m.version('vllm')}, torch {m.version('torch')}\")"
    return subprocess.run([python, "-c", asked], capture_output=True, text=True, check=True).stdout.strip()


def part(results: Results, versions: str) -> str:
    """Return the part of the page for vLLM."""
    ran = sum("failure" not in found for found in results.values())
    seconds = sum(found["seconds"] for found in results.values())
    said, differences = agreement(runs_of(read(ON_GPU)), runs_of(results))
    one_sided = [each for each in differences if ": 0 on the GPU" in each or each.endswith(" 0 simulated")]
    head = f"""\
Written by `python -m benchmarks.gallery_vllm /path/to/python` on {dt.datetime.now(tz=dt.timezone.utc):%Y-%m-%d}, on the simulated GPU, without a GPU:
{versions}. {ran} of {len(results)} runs went through, in {seconds / 60:.0f} minutes.
A rate counts the synchronizations per step of the engine, after three steps of warm-up. Requests have eleven kinds of sampling options.
Chunks have 32 tokens, drafts come from n-grams, and one request in two has an adapter. "-": vLLM has no such mode for the model.

{said} That was on an H200 with the same vLLM and torch (`benchmarks/gallery_vllm_h200.jsonl`; `--gpu --kept FILE` makes it, `--compare`
repeats the comparison and names each difference). Rates differ with drafts alone. Kernels for the GPU alone are
[not computed](simulate.md#kernels-for-the-gpu-alone), so the simulation accepts other drafts than a GPU. A step with drafts then takes other branches.

Lines on one side alone (`torch.compile` compiles nothing simulated; on a GPU its compilation blocks): {"; ".join(one_sided) or "none"}.

| model | {" | ".join(MODES)} | lines |
|---|{"---|" * len(MODES)}---|
"""
    names = [name for name in (*MODELS, *EMBEDDING, *VISION) if (name, "plain") in results]
    return head + "".join(
        f"| {name} | {' | '.join(_total(results.get((name, mode))) for mode in MODES)} | {_lines(name, results)} |\n"
        for name in names
    )


def _total(found: Found | None) -> str:
    if found is None:
        return "-"
    return "failed" if "failure" in found else f"{sum(found['lines'].values()):.3g}"


def _lines(name: str, results: Results) -> str:
    """Return the lines of the model, once for all modes that have the same."""
    modes: dict[str, list[str]] = defaultdict(list)
    for mode in MODES:
        if (name, mode) in results:
            modes[_cell(results[name, mode])].append(mode)
    return "<br>".join(f"{', '.join(same)}: {cell}" for cell, same in modes.items())


def _cell(found: Found) -> str:
    if "failure" in found:
        return str(found["failure"]).replace("|", "\\|")
    return "; ".join(f"`{line}`: {rate:.3g}" for line, rate in found["lines"].items()) or "none"


def runs_of(results: Results) -> Runs:
    """Return the lines of each run, or why there are none."""
    return {run: found.get("failure", found.get("lines")) for run, found in results.items()}


def main() -> None:
    """Make what is missing, and write the part."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("python", nargs="?", help="one that has vLLM")
    parser.add_argument("names", nargs="*", help="make these anew")
    parser.add_argument("--modes", nargs="+", choices=MODES, default=MODES)
    parser.add_argument("--limit", type=float, default=240, help="seconds that a run may take")
    parser.add_argument("--jobs", type=int, default=1, help="so many runs at once")
    parser.add_argument("--kept", type=Path, default=KEPT, help="file of the results")
    parser.add_argument("--gpu", action="store_true", help="on a real one")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="results of a GPU")
    options = parser.parse_args()
    if options.compare:
        said, differences = agreement(runs_of(read(options.compare)), runs_of(read(options.kept)))
        print(*differences, said, sep="\n")
        return
    if not options.python:
        parser.error("name a Python that has vLLM")
    known = {} if options.names else read(options.kept)
    runs = [
        (name, mode)
        for name, mode in all_runs()
        if name in (options.names or (name,)) and mode in options.modes and (name, mode) not in known
    ]
    if runs:
        make(
            options.python, runs, options.kept.resolve(), options.limit, jobs=options.jobs, on_gpu=options.gpu
        )
        tidy(options.kept)
    if options.kept == KEPT:
        write_part("vLLM", part(read(KEPT), versions_of(options.python)))


if __name__ == "__main__":
    main()
