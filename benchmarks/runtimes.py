"""Which lines wait in a step of vLLM on a machine without a GPU, and how often a step.

    python -m benchmarks.runtimes /path/to/python --model llama --mode plain

where that Python has vLLM (tried with 0.25.1 and torch 2.11, both as they are for CUDA). A tiny model of random weights
generates for requests with different sampling options; nothing is downloaded. `--mode spec` drafts tokens from n-grams,
`--old-runner` takes vLLM's first model runner, `--graphs` its compiler, which compiles nothing here, and its CUDA graphs;
`--ranks` spreads the model over several GPUs. `--gpu` traces the same on the GPUs of this machine, with what they starve,
to hold the two against each other; `--output` keeps the trace.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.vllm_models import MODELS, config

STEP = "vllm.v1.engine.core:EngineCore.step_with_batch_queue"
# It looks at the tokens before it schedules the next ones.
STEP_OF_SPEC = "vllm.v1.engine.core:EngineCore.step"
# Each rank runs its part of a step in a process of its own.
STEP_OF_RANKS = "vllm.v1.worker.gpu_worker:Worker.execute_model"
PROGRAM = """\
import json, os, random, sys

from vllm import LLM, SamplingParams
from vllm.inputs import TokensPrompt

OPTIONS = [
    {"temperature": 0.0}, {"top_p": 0.9}, {"top_k": 20, "min_p": 0.05}, {"seed": 7}, {"logprobs": 3}, {"n": 2},
    {"temperature": 0.0, "prompt_logprobs": 2}, {"presence_penalty": 0.5, "repetition_penalty": 1.1},
    {"logit_bias": {5: 1.0}}, {"min_tokens": 4, "stop_token_ids": [7]}, {"allowed_token_ids": [5, 6, 7]},
]

def main():
    model, mode, tokens = sys.argv[1:]
    ngrams = {"method": "ngram", "num_speculative_tokens": 3, "prompt_lookup_max": 4, "prompt_lookup_min": 1}
    extra = {
        "fp8": {"quantization": "fp8"}, "spec": {"speculative_config": ngrams},
        "chunked": {"enable_chunked_prefill": True, "max_num_batched_tokens": 32},
        "prefix": {"enable_prefix_caching": True},
    }.get(mode, {})
    options = [o for o in OPTIONS if mode != "spec" or not o.keys() & {"min_p", "logit_bias"}]  # which it refuses
    eager, ranks = os.environ["GRAPHS"] == "0", int(os.environ["RANKS"])
    llm = LLM(model=model, load_format="dummy", skip_tokenizer_init=True, max_model_len=512,
              gpu_memory_utilization=0.3, max_num_seqs=32, enforce_eager=eager, tensor_parallel_size=ranks,
              **extra)
    numbers = random.Random(0)
    prompts = [
        TokensPrompt(prompt_token_ids=(list(range(8, 40)) if mode == "prefix" else [])
                     + [numbers.randrange(8, 900) for _ in range(numbers.randrange(20, 60))])
        for _ in range(2 * len(options))
    ]
    same = {"max_tokens": int(tokens), "ignore_eos": True, "detokenize": False}
    llm.generate(prompts, [SamplingParams(**same, **options[i % len(options)]) for i in range(len(prompts))],
                 use_tqdm=False)

if __name__ == "__main__":
    main()
"""


def main() -> None:
    """Print the lines of the steady steps."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("python", help="one that has vLLM")
    parser.add_argument("--model", choices=sorted(MODELS), default="llama")
    parser.add_argument("--mode", choices=["plain", "fp8", "spec", "chunked", "prefix"], default="plain")
    parser.add_argument("--tokens", type=int, default=24)
    parser.add_argument("--old-runner", action="store_true")
    parser.add_argument("--graphs", action="store_true")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--calls", action="store_true", help="for syncscan prove --given")
    parser.add_argument("--facts", type=Path, metavar="FILE", help="write runtime facts of the same run")
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        command, environment = program_of(options, Path(folder))
        show(traced(options, Path(folder), command, environment))


def program_of(options: argparse.Namespace, folder: Path) -> tuple[list[str | Path], dict[str, str]]:
    """The program as a command with its environment, written into a folder."""
    (folder / "config.json").write_text(json.dumps(config(options.model)), encoding="utf-8")
    program = folder / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    environment = {
        **os.environ, "VLLM_ENABLE_V1_MULTIPROCESSING": "0", "VLLM_USE_FLASHINFER_SAMPLER": "0",
        "VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1",
        "GRAPHS": str(int(options.graphs)), "RANKS": str(options.ranks),
        **({} if options.gpu else {"CUDA_VISIBLE_DEVICES": ",".join(map(str, range(options.ranks)))}),
        **({"VLLM_USE_V2_MODEL_RUNNER": "0"} if options.old_runner else {}),
    }  # fmt: skip
    return [options.python, program, folder, options.mode, str(options.tokens)], environment


def traced(
    options: argparse.Namespace, folder: Path, command: list[str | Path], environment: dict[str, str]
) -> dict[str, Any]:
    """The trace of the program, in a folder that is lost afterwards where no other is named."""
    kept = options.output or folder / "out"
    step = STEP_OF_RANKS if options.ranks > 1 else STEP_OF_SPEC if options.mode == "spec" else STEP
    how = ("--starved" if options.gpu else "--simulate", "--step", step, "--warmup", "3")
    how += (*recorded(options, "vllm"),)
    return trace_of(command, how, kept, environment)


def recorded(options: argparse.Namespace, package: str) -> list[str]:
    """Return the options with which a trace records what a proof needs: the calls, and the facts of a package."""
    facts = ["--facts", str(options.facts), "--package", package] if options.facts else []
    return [*(["--calls"] if options.calls else []), *facts]


def trace_of(
    command: Sequence[str | Path],
    how: Sequence[str],
    kept: Path,
    environment: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Trace a command with some options, and keep the trace in a folder; ends the program where the command fails."""
    options = (*how, "--output-format", "json", "--output", kept)
    done = subprocess.run(
        [sys.executable, "-m", "syncscan", "trace", *options, "--", *command],
        env=environment, stdout=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    if done.returncode:
        sys.exit(f"it ended with exit status {done.returncode}")
    trace: dict[str, Any] = json.loads((kept / "trace.json").read_text(encoding="utf-8"))
    return trace


def place_of(site: dict[str, Any]) -> str:
    """Where a site lies, from the folder of the package on."""
    return f"{site['path'].partition('site-packages/')[2] or site['path']}:{site['line']}"


def show(trace: dict[str, Any]) -> None:
    """Print each line that waits in a steady step, and what was not computed."""
    steps, uncomputed = trace["steps"], trace["uncomputed"]
    print(
        f"{steps['steady']} steady steps; not computed: {len(uncomputed)} kernels, {sum(uncomputed.values())} times"
    )
    for site in trace["sites"]:
        if site["per_step"]:
            starved = site["starved_ns"]
            cost = (
                f", the GPU starves for {starved['total'] / steps['steady'] / 1e3:.0f} us" if starved else ""
            )
            print(f"{site['per_step']:.3g} a step{cost}  {place_of(site)}  {site['expression']}")


if __name__ == "__main__":
    main()
