"""What waits for the GPU in 40 architectures of transformers: a table of waits per token and per training step.

    python -m benchmarks.gallery                 write docs/gallery.md
    python -m benchmarks.gallery NAME ...        print the rows of these architectures alone
    python -m benchmarks.gallery --gpu -o FILE NAME ...   keep those of a real GPU
    python -m benchmarks.gallery --compare FILE  hold them against the simulated GPU, line by line

It runs on the simulated GPU: none is needed, and nothing is downloaded. Models are tiny and have random weights. A rate is
what the later steps add: waits of a run with more steps, less those of a run with fewer, by the difference in steps. So the
table leaves out what waits once, such as the start of `generate`.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from benchmarks.architectures import ARCHITECTURES, EXPERTS, OLDER, SEQ2SEQ, SIZES, batch
from benchmarks.gallery_page import Runs, agreement, write_part

ON_GPU = Path(__file__).with_name("gallery_h200.json")
FEW, MANY = 4, 12  # steps of the two runs
DECODER = "AutoModelForCausalLM"
MORE: dict[str, tuple[str, dict[str, Any]]] = {
    **dict.fromkeys(
        ("gemma", "granite", "olmo", "cohere", "glm", "glm4", "nemotron", "smollm3", "helium", "seed_oss", "ernie4_5",
         "exaone4", "hunyuan_v1_dense", "arcee", "apertus", "ministral", "bitnet", "diffllama", "csm"),
        (DECODER, SIZES),
    ),
    **dict.fromkeys(("gptj", "codegen"), (DECODER, {"n_embd": 32, "n_layer": 2, "n_head": 4, "rotary_dim": 8, "vocab_size": 128, "n_positions": 128, "bos_token_id": 1, "eos_token_id": 2})),
    **dict.fromkeys(("qwen3_moe", "olmoe", "granitemoe", "phimoe", "gpt_oss"), (DECODER, SIZES | EXPERTS)),
    "gemma3_text": (DECODER, SIZES),
    "mamba": (DECODER, {**OLDER, "state_size": 8, "expand": 2}),
    "mamba2": (DECODER, {**OLDER, "num_heads": 8, "head_dim": 8, "state_size": 8, "n_groups": 1, "expand": 2, "chunk_size": 8}),
    "deepseek_v3": (DECODER, SIZES | {"head_dim": 4, "num_key_value_heads": 4, "n_routed_experts": 8, "num_experts_per_tok": 2, "n_group": 2, "topk_group": 1, "kv_lora_rank": 8, "q_lora_rank": 8, "qk_rope_head_dim": 4, "qk_nope_head_dim": 4, "v_head_dim": 8, "first_k_dense_replace": 1, "moe_intermediate_size": 32, "n_shared_experts": 1}),
    "mt5": ("AutoModelForSeq2SeqLM", {**SEQ2SEQ, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4}),
}  # fmt: skip
GALLERY = {
    name: ARCHITECTURES.get(name, MORE.get(name))
    for name in sorted({*ARCHITECTURES, *MORE} - {"bert", "csm"})
}
Lines = Counter[str]
Rows = dict[str, dict[str, dict[str, float] | str]]


def generating(model: Any, steps: int, **options: Any) -> None:
    """Generate so many tokens."""
    import torch  # noqa: PLC0415 (only where it runs)

    torch.manual_seed(0)
    model.eval()
    model.generate(**batch(), min_new_tokens=steps, max_new_tokens=steps, **options)


def training(model: Any, steps: int) -> None:
    """Train so many steps, with AdamW and clipped gradients."""
    import torch  # noqa: PLC0415 (only where it runs)

    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(steps):
        inputs = batch()
        model(**inputs, labels=inputs["input_ids"].clone()).loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()


MODES: dict[str, Callable[[Any, int], None]] = {
    "greedy": generating,
    "sampled": lambda model, steps: generating(
        model, steps, do_sample=True, top_p=0.9, top_k=20, repetition_penalty=1.1
    ),
    "training": training,
}


def rates(name: str, mode: str, *, on_gpu: bool = False) -> dict[str, float] | str:
    """Return the waits per step of each line, or why the model does not run."""
    return rates_of(lambda: _model(name), MODES[mode], on_gpu=on_gpu)


def rates_of(
    make: Callable[[], Any], run: Callable[[Any, int], None], *, on_gpu: bool
) -> dict[str, float] | str:
    """Return the waits per step of each line of a run with so many steps of what is made, or why it does not run."""
    from syncscan import count_syncs, simulated_cuda  # noqa: PLC0415 (only where it runs)

    counts: list[Lines] = []
    try:
        for steps in (FEW, MANY):
            with nullcontext() if on_gpu else simulated_cuda(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = make()
                with count_syncs() as seen:
                    run(model, steps)
            lines: Lines = Counter()
            for site, count in seen.sites.items():
                lines[f"{_short(site.path)}:{site.line}"] += count
            counts.append(lines)
    except Exception as error:  # whatever a model raises, the others go on
        return f"{type(error).__name__}: {str(error).splitlines()[0][:100]}"
    few, many = counts
    added = {line: (many[line] - few[line]) / (MANY - FEW) for line in many}
    return {line: rate for line, rate in sorted(added.items()) if rate > 0}


def _model(name: str) -> Any:
    import torch  # noqa: PLC0415 (only where it runs)
    import transformers  # noqa: PLC0415 (only where it runs)

    torch.manual_seed(0)
    auto, sizes = GALLERY[name] or ("", {})
    config = transformers.AutoConfig.for_model(name, **sizes)
    return getattr(transformers, auto).from_config(config).to("cuda")


def _short(path: str) -> str:
    return (
        path.rpartition("site-packages/")[2].removeprefix("transformers/").removeprefix("diffusers/")
        if "site-packages" in path
        else "program"
    )


def cell(found: dict[str, float] | str) -> str:
    """Return the lines of the library with their rates, or why there are none."""
    if isinstance(found, str):
        return found
    return (
        "; ".join(f"`{line}`: {rate:g}" for line, rate in found.items() if not line.startswith("program:"))
        or "none"
    )


def total(found: dict[str, float] | str) -> str:
    """Return the sum of the rates of the lines of the library."""
    if isinstance(found, str):
        return "-"
    return f"{sum(rate for line, rate in found.items() if not line.startswith('program:')):g}"


def part(rows: Rows, seconds: float) -> str:
    """Return the part of the page for transformers."""
    import torch  # noqa: PLC0415 (only where it runs)
    import transformers  # noqa: PLC0415 (only where it runs)

    runs = [found for row in rows.values() for found in row.values()]
    ran = sum(not isinstance(found, str) for found in runs)
    said, _ = agreement(runs_of(json.loads(ON_GPU.read_text(encoding="utf-8"))), runs_of(rows))
    head = f"""\
Written by `python -m benchmarks.gallery` in {seconds:.0f} s on the simulated GPU, without a GPU: transformers {transformers.__version__}, torch {torch.__version__},
Python {platform.python_version()}. Models are tiny and have random weights. {ran} of {len(runs)} runs went through.
A rate counts the synchronizations per further token, or per training step, in lines of the library. Lines that block once are left out, and so are uploads of
the program itself.

{said} That was on an H200 with torch 2.11 and the same transformers (`benchmarks/gallery_h200.json`; `--gpu` makes it, `--compare` repeats the comparison).

| model | greedy | sampled | training | lines |
|---|---|---|---|---|
"""
    return head + "".join(
        f"| {name} | {' | '.join(total(row[mode]) for mode in MODES)} | {_lines(row)} |\n"
        for name, row in rows.items()
    )


def _lines(row: dict[str, dict[str, float] | str]) -> str:
    cells = {mode: cell(found) for mode, found in row.items()}
    same = cells["greedy"] == cells["sampled"]
    shown = {"generate": cells["greedy"]} if same else {mode: cells[mode] for mode in ("greedy", "sampled")}
    return "<br>".join(f"{mode}: {cell}" for mode, cell in (shown | {"training": cells["training"]}).items())


def runs_of(rows: Rows) -> Runs:
    """Return the lines of the library of each run."""
    return {
        (name, mode): found if isinstance(found, str) else _of_library(found)
        for name, row in rows.items()
        for mode, found in row.items()
    }


def compare(real: Rows, rows: Rows) -> None:
    """Print each line whose rate differs between the GPU and the simulation, and the totals of both."""
    said, differences = agreement(runs_of(real), runs_of(rows))
    print(*differences, said, sep="\n")


def _of_library(found: dict[str, float]) -> dict[str, float]:
    return {line: rate for line, rate in found.items() if not line.startswith("program:")}


def main() -> None:
    """Write the page, print or keep rows, or compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="only these")
    parser.add_argument("--gpu", action="store_true", help="on a real one")
    parser.add_argument("-o", "--output", type=Path, help="keep the rows as JSON")
    parser.add_argument("--compare", type=Path, help="rows of a GPU")
    options = parser.parse_args()
    import torch  # noqa: PLC0415 (only where it runs)

    torch.set_num_threads(1)  # tiny models gain nothing from more
    if options.compare:
        real = json.loads(options.compare.read_text(encoding="utf-8"))
        compare(real, {name: {mode: rates(name, mode) for mode in MODES} for name in real})
        return
    start = time.monotonic()
    rows = {}
    for name in options.names or GALLERY:
        rows[name] = {mode: rates(name, mode, on_gpu=options.gpu) for mode in MODES}
        print(name, {mode: cell(found) for mode, found in rows[name].items()}, flush=True)
    if options.output:
        options.output.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    elif not options.names:
        write_part("transformers", part(rows, time.monotonic() - start))


if __name__ == "__main__":
    main()
