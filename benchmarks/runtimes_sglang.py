"""Which lines wait in the steps of SGLang's scheduler on a machine without a GPU, and how often.

    python -m benchmarks.runtimes_sglang /path/to/python --model llama --mode plain --attention triton --sampling pytorch

where that Python has SGLang (tried with sglang 0.5.14, sglang-kernel 0.4.4, flashinfer 0.6.13 and torch 2.11, as they are for
CUDA). A tiny model of random weights generates for requests with different sampling options; nothing is downloaded, and nothing
compiled but SGLang's own n-grams for drafts, which need a C++ compiler. A step is a batch that the scheduler runs; its results are taken outside of it, so a line's waits are those of the
whole run, beside the number of steps. `--gpu` does the same on the GPU of this machine (so with sglang 0.5.11 too); `--output` keeps the trace, for `syncscan prove --given` with
`--calls`. `--facts FILE` writes runtime facts of the same run.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.runtimes import place_of, recorded, trace_of
from benchmarks.vllm_models import MODELS, config

SOURCE = Path(__file__).resolve().parent.parent
STEP = "sglang.srt.managers.scheduler:Scheduler.run_batch"
MODES: dict[str, dict[str, Any]] = {
    "plain": {"disable_radix_cache": True},
    "chunked": {"disable_radix_cache": True, "chunked_prefill_size": 32},
    "prefix-cached": {},
    "speculative": {"speculative_algorithm": "NGRAM", "speculative_num_draft_tokens": 4},
    "LoRA": {"disable_radix_cache": True, "enable_lora": True, "max_loras_per_batch": 2},
}
SAID: dict[str, dict[str, Any]] = {  # what SGLang asks of a config, and vLLM does not
    "gemma2": {"hidden_act": "gelu_pytorch_tanh"},
    "gpt_oss": {"swiglu_limit": 7.0},
    "deepseek_v2": {"moe_layer_freq": 1},
    "deepseek_v3": {"moe_layer_freq": 1},
}
PROGRAM = """\
import json, random, sys, time
from pathlib import Path

import sglang
from benchmarks.vllm_models import write_adapter
from sglang.srt.server_args import ServerArgs
from transformers import AutoConfig, AutoModelForCausalLM

WITHOUT = {"disable_cuda_graph", "disable_piecewise_cuda_graph"} & {*ServerArgs.__dataclass_fields__}
OPTIONS = [
    {"temperature": 0.0}, {"top_p": 0.9}, {"top_k": 20, "min_p": 0.05}, {"temperature": 0.7}, {"frequency_penalty": 0.5},
    {"presence_penalty": 0.5, "stop_token_ids": [7]},
]

def main():
    name, options, prefix, tokens = map(json.loads, sys.argv[1:])
    adapter = Path(options["model_path"], "adapter") if "enable_lora" in options else None
    if adapter:  # SGLang loads none for weights that it made itself
        sizes = AutoConfig.from_pretrained(options["model_path"])
        AutoModelForCausalLM.from_config(sizes).save_pretrained(options["model_path"])
        write_adapter(name, adapter)
        options["lora_paths"] = {"adapter": str(adapter)}
    engine = sglang.Engine(
        load_format="auto" if adapter else "dummy", skip_tokenizer_init=True, context_length=512, max_running_requests=32, max_total_tokens=8192,
        random_seed=1, **dict.fromkeys(WITHOUT, True), **options,
    )
    numbers = random.Random(0)
    prompts = [prefix + [numbers.randrange(8, 900) for _ in range(numbers.randrange(20, 60))] for _ in range(2 * len(OPTIONS))]
    same = {"max_new_tokens": tokens, "ignore_eos": True}
    sampling = [{**same, **OPTIONS[i % len(OPTIONS)]} for i in range(len(prompts))]
    engine.generate(input_ids=prompts, sampling_params=sampling, lora_path=adapter and ["adapter", None] * len(OPTIONS))
    time.sleep(5)  # the engine kills its processes, whose traces are then what they wrote so far
    engine.shutdown()

if __name__ == "__main__":
    main()
"""


def main() -> None:
    """Print the lines that wait."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("python", help="one that has SGLang")
    parser.add_argument("--model", default="llama", choices=[*MODELS], metavar="MODEL")
    parser.add_argument("--mode", default="plain", choices=[*MODES])
    parser.add_argument("--attention", default="triton", help="SGLang's attention_backend")
    parser.add_argument("--sampling", default="pytorch", help="SGLang's sampling_backend")
    parser.add_argument("--tokens", type=int, default=24)
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--calls", action="store_true", help="for syncscan prove --given")
    parser.add_argument("--facts", type=Path, metavar="FILE", help="write runtime facts of the same run")
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        command, environment = program_of(options, Path(folder))
        how = ["--step", STEP]
        how += [] if options.gpu else ["--simulate"]
        how += recorded(options, "sglang")
        show(trace_of(command, how, options.output or Path(folder, "out"), environment))


def program_of(options: argparse.Namespace, folder: Path) -> tuple[list[str | Path], dict[str, str]]:
    """The program as a command with its environment, written into a folder."""
    sizes = config(options.model) | SAID.get(options.model, {})
    (folder / "config.json").write_text(json.dumps(sizes), encoding="utf-8")
    program = folder / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    engine = {
        "model_path": str(folder), "attention_backend": options.attention, "sampling_backend": options.sampling,
        **MODES[options.mode],
    }  # fmt: skip
    prefix = [*range(8, 40)] if options.mode == "prefix-cached" else []
    asked = map(json.dumps, (options.model, engine, prefix, options.tokens))
    path = os.pathsep.join([str(SOURCE), *filter(None, [os.environ.get("PYTHONPATH")])])
    return [options.python, program, *asked], {**os.environ, "PYTHONPATH": path}


def show(trace: dict[str, Any]) -> None:
    """Print each line that waits, and what was not computed."""
    steps, uncomputed = trace["steps"], trace["uncomputed"]
    print(
        f"{steps['started']} steps; not computed: {len(uncomputed)} kernels, {sum(uncomputed.values())} times"
    )
    for site in sorted(trace["sites"], key=lambda site: -int(site["count"])):
        where = "in steps" if site["in_step"] else "apart from them"
        print(f"{site['count']} {where}  {place_of(site)}  {site['expression']}")
    for kernel, count in uncomputed.items():
        print(f"    {count} x {kernel}")


if __name__ == "__main__":
    main()
