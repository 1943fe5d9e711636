"""vLLM's own unit tests, of which most want a GPU, on the simulated one: how many run, pass, and what stops the rest.

    python -m benchmarks.vllm_tests /path/to/python SOURCE [--paths PATH ...] [--keep]

where that Python has vLLM, pytest, tblib and what syncscan needs (click, libcst, pathspec, rich), and SOURCE is vLLM's
source tree of the same version (tried with 0.25.1: its source distribution). No network and no GPU is used; of the
models that many tests name, the sizes are there, for OPT a tokenizer of bytes too, and nothing else. Each path (by default
the tests of samplers, workers, attention metadata and speculative decoding) is run by ``pytest --syncscan=simulate``, one
test after the other; one that ends its process, or takes too long, is left behind. Prints a table by folder, then every
cause of a failure with its count. The results stay in FOLDER; ``--keep`` takes them from there. ``--share N`` runs one test in N.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PATHS = ("tests/v1/sample", "tests/v1/worker", "tests/v1/attention", "tests/v1/spec_decode")
TEST_SECONDS = 120
ENDED = "ended the process, or took too long"

# The first that holds is the cause: of the error's type, its message, and whether a kernel was not computed before.
_CAUSES = (
    ("a model or file of the network", re.compile(r"LocalEntryNotFound|OfflineMode|HF_HUB_OFFLINE|offline mode|couldn't connect|Can't load|not a local folder|Repo(sitory)?NotFound|ConnectionError|is not a valid model identifier|Invalid repository ID|MaxRetryError|Cannot send a request")),
    ("a package that is not installed", re.compile(r"ModuleNotFoundError|ImportError|No module named")),
    ("not simulated", re.compile("^SimulationError")),
    ("another process", re.compile("Engine core initialization failed|EngineDead|function .* failed when called|WorkerProc")),
)  # fmt: skip

# Of models that many tests name they need no more than the sizes.
_LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "torch_dtype": "bfloat16",
    "vocab_size": 128256,
}
_SMALL_LLAMA = {
    "hidden_size": 2048,
    "intermediate_size": 8192,
    "num_hidden_layers": 16,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 64,
    "max_position_embeddings": 131072,
}
_LARGE_LLAMA = {
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "max_position_embeddings": 8192,
}
_EAGLE = {"num_hidden_layers": 1}
_EAGLE3 = _EAGLE | {"architectures": ["LlamaForCausalLMEagle3"], "draft_vocab_size": 32000}
_OPT = {
    "architectures": ["OPTForCausalLM"],
    "model_type": "opt",
    "torch_dtype": "float16",
    "vocab_size": 50272,
    "hidden_size": 768,
    "ffn_dim": 3072,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "max_position_embeddings": 2048,
    "word_embed_proj_dim": 768,
    "do_layer_norm_before": True,
}
_LARGE_OPT = _OPT | {
    "hidden_size": 1024,
    "ffn_dim": 4096,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "word_embed_proj_dim": 512,
    "do_layer_norm_before": False,
}
_TINY_LLAMA = _LLAMA | {
    "vocab_size": 32000,
    "hidden_size": 2048,
    "intermediate_size": 5632,
    "num_hidden_layers": 22,
    "num_attention_heads": 32,
    "num_key_value_heads": 4,
    "max_position_embeddings": 2048,
}
_QWEN = {
    "architectures": ["Qwen3ForCausalLM"],
    "model_type": "qwen3",
    "torch_dtype": "bfloat16",
    "vocab_size": 151936,
    "hidden_size": 4096,
    "intermediate_size": 12288,
    "num_hidden_layers": 36,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "max_position_embeddings": 40960,
}
MODELS = {
    "facebook/opt-125m": _OPT,
    "facebook/opt-350m": _LARGE_OPT,
    "TinyLlama/TinyLlama-1.1B-Chat-v1.0": _TINY_LLAMA,
    "meta-llama/Meta-Llama-3-8B": _LLAMA | _LARGE_LLAMA,
    "meta-llama/Meta-Llama-3-8B-Instruct": _LLAMA | _LARGE_LLAMA,
    "meta-llama/Llama-3.1-8B-Instruct": _LLAMA | _LARGE_LLAMA | {"max_position_embeddings": 131072},
    "meta-llama/Llama-3.2-1B-Instruct": _LLAMA | _SMALL_LLAMA,
    "yuhuili/EAGLE-LLaMA3-Instruct-8B": _LLAMA | _LARGE_LLAMA | _EAGLE,
    "yuhuili/EAGLE-LLaMA3.1-Instruct-8B": _LLAMA | _LARGE_LLAMA | _EAGLE,
    "yuhuili/EAGLE3-LLaMA3.1-Instruct-8B": _LLAMA | _LARGE_LLAMA | _EAGLE3,
    "Qwen/Qwen3-8B": _QWEN,
}  # fmt: skip

Result = dict[str, Any]


def main() -> None:
    """Run the tests and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("python", type=Path, help="one that has vLLM")
    parser.add_argument("source", type=Path, help="vLLM's source tree")
    parser.add_argument(
        "--paths", nargs="+", default=PATHS, metavar="PATH", help="below it; by default %(default)s"
    )
    parser.add_argument("--folder", type=Path, default=Path.home() / ".cache" / "syncscan-vllm-tests")
    parser.add_argument("--keep", action="store_true", help="take the results that earlier runs left")
    parser.add_argument("--share", type=int, default=1, metavar="N", help="run one test in N")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    write_models(options.folder / "hub" / "hub")
    rows = {}
    for path in options.paths:
        kept = options.folder / f"{path.replace('/', '-')}-{options.share}.jsonl"
        if not (options.keep and kept.exists()):
            run(path, kept, options)
        rows[path] = read(kept)
    print_table(rows)
    print_causes([result for results in rows.values() for result in results])


def write_models(hub: Path) -> None:
    """Leave the sizes of the models where huggingface_hub keeps what it has downloaded."""
    for name, sizes in MODELS.items():
        folder = hub / f"models--{name.replace('/', '--')}"
        snapshot = folder / "snapshots" / ("0" * 40)
        snapshot.mkdir(parents=True, exist_ok=True)
        (snapshot / "config.json").write_text(json.dumps(sizes), encoding="utf-8")
        if sizes["model_type"] == "opt":
            _write_bytes_tokenizer(snapshot)
        (folder / "refs").mkdir(exist_ok=True)
        (folder / "refs" / "main").write_text("0" * 40, encoding="utf-8")


def _write_bytes_tokenizer(folder: Path) -> None:
    """Leave a tokenizer like that of GPT-2 whose tokens are single bytes."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    characters = [*plain, *range(0x100, 0x100 + 256 - len(plain))]
    tokens = ["<s>", "<pad>", "</s>", "<unk>", "<|endoftext|>", *map(chr, characters)]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    (folder / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    (folder / "merges.txt").write_text("#version: 0.2\n", encoding="utf-8")


def run(path: str, results: Path, options: argparse.Namespace) -> None:
    """Write what came of each test, by as many processes as it takes."""
    results.write_text("")
    command = [
        str(options.python), "-m", "pytest", path, "--syncscan=simulate",
        "-p", "syncscan.pytest_plugin", "-p", "parity_plugin", "-p", "no:faulthandler", "-p", "no:cacheprovider",
        "--continue-on-collection-errors", "--quiet", "--tb=no", "--disable-warnings",
        f"--parity-results={results}", f"--parity-share={options.share}", f"--parity-limit={TEST_SECONDS}",
    ]  # fmt: skip
    environment = {
        **os.environ, "PYTHONPATH": os.pathsep.join((str(HERE), str(HERE.parent), os.environ.get("PYTHONPATH", ""))),
        "HF_HUB_OFFLINE": "1", "HF_HOME": str(options.folder / "hub"), "VLLM_NO_USAGE_STATS": "1", "VLLM_USE_FLASHINFER_SAMPLER": "0",
    }  # fmt: skip
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, results.with_suffix(".log").open("w") as log:
        # beside its package the tests would import that, which is not built
        (Path(folder) / "tests").symlink_to((options.source / "tests").resolve())
        while True:
            before = results.stat().st_size
            subprocess.run(
                command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=log, check=False
            )
            lines = results.read_text().splitlines()
            if not lines or results.stat().st_size == before or "outcome" in json.loads(lines[-1]):
                break
    print(f" {path} in {time.monotonic() - began:.0f} s", file=sys.stderr)


def read(path: Path) -> list[Result]:
    """What came of each test, and of the files that could not be imported."""
    found: dict[str, Result] = {}
    for line in path.read_text().splitlines():
        result = json.loads(line)
        if "outcome" not in result:
            result.update(outcome="failed", error="", message=ENDED)
        found[result["test"]] = result
    for line in path.with_suffix(".log").read_text().splitlines():
        if (error := re.match(r"ERROR (\S+\.py)( - (.*))?$", line)) is not None:
            name, _, message = error.groups()
            found[name] = {"test": name, "outcome": "not collected", "error": "", "message": message or ""}
    return list(found.values())


def cause(result: Result) -> str:
    """Why a test failed, in a word or two."""
    text = f"{result['error']}: {result['message']}"
    if result["message"] == ENDED:
        return ENDED
    found = next((name for name, pattern in _CAUSES if pattern.search(text)), None)
    if found is None and result.get("uncomputed"):
        return "numbers of a kernel that was not computed"
    return found or "otherwise"


def print_table(rows: dict[str, list[Result]]) -> None:
    """A line for each folder."""
    print("| folder | tests | pass | skipped | fail | files not imported |\n|---|---|---|---|---|---|")
    for path, results in rows.items():
        counts = Counter(result["outcome"] for result in results)
        passed, skipped = counts["passed"] + counts["xfailed"], counts["skipped"]
        missing = counts["not collected"]
        print(
            f"| {path} | {len(results) - missing} | {passed} | {skipped} | {counts['failed']} | {missing} |"
        )


def print_causes(results: list[Result]) -> None:
    """Every cause with its count, and under it the messages, the most frequent first."""
    by_cause: dict[str, Counter[str]] = {}
    for result in results:
        if result["outcome"] in {"failed", "not collected"}:
            message = re.sub(r"[0-9]+", "N", result["message"])[:140]
            where = next(
                (frame.partition(" ")[0] for frame in reversed(result.get("frames", [])) if "vllm" in frame),
                result["test"].partition("::")[0],
            )
            text = f"{result['error']} {message} [{where.partition('site-packages/')[2] or where}]"
            by_cause.setdefault(cause(result), Counter())[text] += 1
    for name, messages in sorted(by_cause.items(), key=lambda item: -item[1].total()):
        print(f"\n{name}: {messages.total()}")
        for text, count in messages.most_common(12):
            print(f"    {count} x {text}")


if __name__ == "__main__":
    main()
