"""What the simulated GPU gets right, and what it costs.

    python benchmarks/simulate.py agreement [FOLDER]   verdicts against those measured on a GPU
    python benchmarks/simulate.py generate [NAME ...]  transformers: same tokens, time against plain CPU
    python benchmarks/simulate.py program NAME DEVICE  one generation, to be traced
    python benchmarks/simulate.py compare REAL SIMULATED   lines of two folders of traces

``agreement`` needs the folder of the measurements, which is not part of the project (`../shared/measured`
unless another is given), and says so where it is missing. ``generate`` and ``program`` need transformers;
the models are tiny, made from configurations with random weights, and nothing is downloaded. Times are
processor time on one thread, the least of several rounds that take turns.
"""

from __future__ import annotations

import ast
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

MEASURED = Path(__file__).resolve().parent.parent.parent / "shared" / "measured"
ROUNDS = 5
NEW_TOKENS = 32
_SMALL = {
    "hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 4, "num_attention_heads": 4,
    "num_key_value_heads": 2, "vocab_size": 512, "max_position_embeddings": 256,
    "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": None,
}  # fmt: skip
_GPT2 = {"n_embd": 128, "n_layer": 4, "n_head": 4, "vocab_size": 512, "n_positions": 256,
         "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": None}  # fmt: skip
_T5 = {"d_model": 128, "d_ff": 256, "d_kv": 32, "num_layers": 4, "num_heads": 4, "vocab_size": 512,
       "pad_token_id": 0, "eos_token_id": None, "decoder_start_token_id": 0}  # fmt: skip
MODELS: dict[str, dict[str, Any]] = {
    "llama": _SMALL,
    "qwen3": {**_SMALL, "head_dim": 32},
    "gemma2": {**_SMALL, "head_dim": 32},
    "mixtral": {**_SMALL, "num_local_experts": 4},
    "gpt2": _GPT2,
    "t5": _T5,
}


def agreement(folder: Path = MEASURED) -> list[tuple[str, bool, object]] | None:
    """Cases whose verdict differs: name, measured, simulated (or the error); None without the folder."""
    if not (folder / "probe.py").is_file():
        print(f"skipped: the measurements are not in {folder}")
        return None
    from syncscan.simulate.context import simulated_cuda  # noqa: PLC0415 (a command needs only its own)

    (file,) = folder.glob("*.json")
    measured = {case["case"]: case["blocked"] for case in json.loads(file.read_text(encoding="utf-8"))}
    differ, total = [], 0
    with warnings.catch_warnings(), simulated_cuda() as seen:
        warnings.simplefilter("ignore")
        for name, case in _cases(folder / "probe.py"):
            if name in measured:
                total += 1
                verdict = _verdict(case, seen)
                differ += [] if verdict is measured[name] else [(name, measured[name], verdict)]
    print(f"{total - len(differ)} of {total} verdicts agree: {(total - len(differ)) / total:.1%}")
    for name, truth, verdict in differ:
        print(f"  {name}: measured {truth}, simulated {verdict}")
    return differ


def _cases(path: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """The calls that the probe measured, without the measuring."""
    kept = (ast.Import, ast.ImportFrom, ast.Assign, ast.FunctionDef)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tree.body = [statement for statement in tree.body if isinstance(statement, kept)]
    space: dict[str, Any] = {}
    exec(compile(tree, str(path), "exec"), space)  # noqa: S102 (the measurements are the user's own file)
    for name, case in space["cases"].items():
        if case is not None:
            yield name, case


def _verdict(case: Callable[[], object], seen: list[Any]) -> object:
    try:
        case()
        seen.clear()
        case()
    except Exception as error:
        return repr(error)[:200]
    return bool(seen)


def generate(names: list[str]) -> bool:
    """Print a row for each model; true if all tokens are those of the CPU."""
    import torch  # noqa: PLC0415 (a command needs only its own)

    from syncscan.simulate.context import simulated_cuda  # noqa: PLC0415 (a command needs only its own)

    torch.set_num_threads(1)
    print("model      same tokens   cpu ms   simulated ms   times   syncs   lines")
    all_same = True
    for name in names or MODELS:
        plain, pretending = build(name), build(name)
        times: dict[str, list[float]] = {"cpu": [], "cuda": []}
        for _ in range(ROUNDS + 1):
            expected = _timed(plain, "cpu", times["cpu"])
            with simulated_cuda() as seen:
                tokens = _timed(pretending.to("cuda"), "cuda", times["cuda"]).cpu()
        same = torch.equal(expected, tokens)
        all_same = all_same and same
        before, after = (min(measured[1:]) * 1e3 for measured in times.values())
        lines = {(sync.path, sync.line) for sync in seen}
        print(
            f"{name:10} {same!s:11} {before:8.1f} {after:14.1f} {after / before:7.2f}"
            f" {len(seen):7} {len(lines):7}"
        )
    return all_same


def build(name: str) -> Any:
    """A tiny model with random weights."""
    import torch  # noqa: PLC0415 (a command needs only its own)
    import transformers  # noqa: PLC0415 (a command needs only its own)

    transformers.logging.set_verbosity_error()
    torch.manual_seed(0)
    config = transformers.AutoConfig.for_model(name, **MODELS[name])
    kind = transformers.AutoModelForSeq2SeqLM if name == "t5" else transformers.AutoModelForCausalLM
    return kind.from_config(config).eval()


def _timed(model: Any, device: str, times: list[float]) -> Any:
    began = time.process_time()
    tokens = run(model, device)
    times.append(time.process_time() - began)
    return tokens


def run(model: Any, device: str) -> Any:
    """Generate from a padded batch of two prompts."""
    import torch  # noqa: PLC0415 (a command needs only its own)

    prompts = torch.arange(2, 26).reshape(2, 12)
    mask = torch.ones_like(prompts)
    mask[0, :3] = 0
    prompts, mask = prompts.to(device), mask.to(device)
    return model.generate(prompts, attention_mask=mask, max_new_tokens=NEW_TOKENS, do_sample=False)


def program(name: str, device: str) -> None:
    """Build, move and generate: what a trace watches."""
    print(name, run(build(name).to(device), device).cpu().tolist())


def compare(real: Path, simulated: Path) -> None:
    """Print precision and recall over lines for each model that both folders hold a trace of."""
    totals = [0, 0, 0]
    for folder in sorted(real.iterdir()):
        other = simulated / folder.name
        if not (other / "trace.json").is_file():
            continue
        truth, told = _lines(folder), _lines(other)
        counts = len(truth & told), len(told), len(truth)
        totals = [total + count for total, count in zip(totals, counts, strict=True)]
        _print_score(folder.name, *counts)
        for mark, lines in (("only real", truth - told), ("only simulated", told - truth)):
            for path, line in sorted(lines):
                print(f"    {mark}: {path}:{line}")
    _print_score("all", *totals)


def _print_score(name: str, both: int, told: int, truth: int) -> None:
    precision, recall = both / max(1, told), both / max(1, truth)
    print(f"{name:10} lines {truth:3} simulated {told:3} precision {precision:.0%} recall {recall:.0%}")


def _lines(folder: Path) -> set[tuple[str, int]]:
    trace = json.loads((folder / "trace.json").read_text(encoding="utf-8"))
    return {(site["path"].rpartition("site-packages/")[2], site["line"]) for site in trace["sites"]}


def main(arguments: list[str]) -> int:
    """Run one of the commands; the exit status is 1 where something differs that must not."""
    command, *rest = arguments or ["help"]
    if command == "agreement":
        return int(bool(agreement(*map(Path, rest))))
    if command == "generate":
        return int(not generate(rest))
    if command == "program":
        program(*rest)
    elif command == "compare":
        compare(*map(Path, rest))
    else:
        print(__doc__)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
