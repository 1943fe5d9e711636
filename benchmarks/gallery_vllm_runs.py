"""The runs of the gallery of vLLM, in the Python that has vLLM; `benchmarks.gallery_vllm` starts it.

Each run is a process forked from this one. A run that takes longer than the limit is ended. Simulated, vLLM is imported
before the first fork. With a real GPU each run imports vLLM itself, because CUDA does not survive a fork. The memory of the
cache has a fixed size, so several of these commands can share a GPU.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.vllm_models import (
    EMBEDDING,
    IMAGE_SIDE,
    IMAGE_TOKENS,
    RANK,
    VISION,
    config,
    write_adapter,
)

WARMUP = 3
REQUESTS: tuple[dict[str, Any], ...] = (
    {"temperature": 0.0}, {"top_p": 0.9}, {"top_k": 20, "min_p": 0.05}, {"seed": 7}, {"logprobs": 3}, {"n": 2},
    {"temperature": 0.0, "prompt_logprobs": 2}, {"presence_penalty": 0.5, "repetition_penalty": 1.1},
    {"logit_bias": {5: 1.0}}, {"min_tokens": 4, "stop_token_ids": [7]}, {"allowed_token_ids": [5, 6, 7]},
)  # fmt: skip
REFUSED_WITH_DRAFTS = {"min_p", "logit_bias"}
CACHE_BYTES = 1 << 30
PLAIN_WORD = {"special": True, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
IMAGE_WORDS = ("<|vision_start|>", "<|image_pad|>", "<|vision_end|>")
SHARED = (
    "vllm.entrypoints.llm",
    "vllm.v1.worker.gpu_worker",
    "vllm.v1.worker.gpu_model_runner",
    "vllm.v1.worker.gpu.model_runner",
)
Found = dict[str, Any]


def one_run(name: str, mode: str, tokens: int, folder: Path) -> Found:
    """Generate with the model in this mode; return the synchronizations per steady step of each line, and the steps."""
    from vllm import LLM  # noqa: PLC0415 (only where it runs)

    _write_model(name, folder)
    llm = LLM(
        model=str(folder), load_format="dummy", skip_tokenizer_init=name not in EMBEDDING | VISION, max_model_len=512, gpu_memory_utilization=0.05,
        kv_cache_memory_bytes=CACHE_BYTES, max_num_seqs=4 if name in EMBEDDING else 16, enforce_eager=True, **_options(name, mode),
    )  # fmt: skip
    core = llm.llm_engine.engine_core.engine_core
    steps = Steps(core.step_fn)
    core.step_fn = steps
    adapters = [_adapter(name, folder / "adapter"), None] * 32 if mode == "LoRA" else None
    if name in EMBEDDING:
        prompts = _prompts(mode, 32)
        llm.embed(prompts, use_tqdm=False, lora_request=adapters and adapters[: len(prompts)])
    else:
        requests = [r for r in REQUESTS if mode != "speculative" or not r.keys() & REFUSED_WITH_DRAFTS]
        prompts = _prompts(mode, len(requests), images=name in VISION)
        llm.generate(
            prompts, _sampling(requests, tokens), use_tqdm=False, lora_request=adapters and adapters[: len(prompts)]
        )  # fmt: skip
    return {"steps": steps.steady, "lines": steps.rates()}


def _write_model(name: str, folder: Path) -> None:
    """Write its config, and what vLLM asks for even if the prompts are tokens: a tokenizer of numbers, and sizes of images."""
    sizes = config(name)
    words = {
        str(number): number for number in range(sizes["vocab_size"]) if number not in IMAGE_TOKENS.values()
    }
    words |= IMAGE_TOKENS
    tokenizer: dict[str, Any] = {
        "version": "1.0", "added_tokens": [], "model": {"type": "WordLevel", "vocab": words, "unk_token": "0"},
    }  # fmt: skip
    files = {
        "config": sizes,
        "tokenizer": tokenizer,
        "tokenizer_config": {"tokenizer_class": "PreTrainedTokenizerFast"},
    }
    if name in VISION:
        tokenizer["added_tokens"] = [{"id": number, "content": word, **PLAIN_WORD} for word, number in IMAGE_TOKENS.items()]  # fmt: skip
        files["preprocessor_config"] = {
            "image_processor_type": "Qwen2VLImageProcessor", "size": {"shortest_edge": IMAGE_SIDE**2, "longest_edge": IMAGE_SIDE**2},
            "patch_size": 14, "merge_size": 2, "temporal_patch_size": 2,
        }  # fmt: skip
        files["processor_config"] = {"processor_class": "Qwen2VLProcessor"}
    for file, content in files.items():
        (folder / f"{file}.json").write_text(json.dumps(content), encoding="utf-8")


class Steps:
    """The engine's steps, each with the synchronizations of its lines."""

    def __init__(self, step: Callable[[], Any]) -> None:
        self._step = step
        self._taken = 0
        self._counts: Counter[str] = Counter()

    def __call__(self) -> Any:
        """Run a step, and count the synchronizations of the step."""
        from syncscan import count_syncs  # noqa: PLC0415 (only where it runs)

        self._taken += 1
        with count_syncs() as seen:
            result = self._step()
        if self._taken > WARMUP:
            for site, count in seen.sites.items():
                print(f"{self._taken}: {count} at {site}", file=sys.stderr)
                self._counts.update(dict.fromkeys(_line(site), count))
        return result

    @property
    def steady(self) -> int:
        """Return the number of steps after warm-up."""
        return max(self._taken - WARMUP, 0)

    def rates(self) -> dict[str, float]:
        """Return the synchronizations per steady step of each line."""
        return {line: round(count / self.steady, 3) for line, count in sorted(self._counts.items())}


def _line(site: Any) -> list[str]:
    """Return the line in vLLM, if the site is in vLLM: no benchmark of Triton, which tunes kernels on a GPU alone."""
    import vllm  # noqa: PLC0415 (only where it runs)

    library = Path(vllm.__file__).parent
    path = Path(site.path)
    return [f"{path.relative_to(library)}:{site.line}"] if path.is_relative_to(library) else []


def _options(name: str, mode: str) -> dict[str, Any]:
    drafts = {"method": "ngram", "num_speculative_tokens": 3, "prompt_lookup_max": 4, "prompt_lookup_min": 1}
    modes: dict[str, dict[str, Any]] = {
        "chunked": {"enable_chunked_prefill": True, "max_num_batched_tokens": 32},
        "prefix-cached": {"enable_prefix_caching": True},
        "speculative": {"speculative_config": drafts},
        "LoRA": {"enable_lora": True, "max_loras": 1, "max_lora_rank": RANK},
    }
    kind = (
        {"runner": "pooling"}
        if name in EMBEDDING
        else {"limit_mm_per_prompt": {"image": 1, "video": 0}}
        if name in VISION
        else {}
    )
    return modes.get(mode, {}) | kind


def _prompts(mode: str, count: int, *, images: bool = False) -> list[Any]:
    from vllm.inputs import TokensPrompt  # noqa: PLC0415 (only where it runs)

    numbers = random.Random(0)  # noqa: S311 (prompts)
    same = list(range(8, 40)) if mode == "prefix-cached" else []
    prompts = [
        TokensPrompt(
            prompt_token_ids=same + [numbers.randrange(8, 900) for _ in range(numbers.randrange(20, 60))]
        )
        for _ in range(count)
    ]
    if images:
        for number, prompt in enumerate(prompts):
            prompt["prompt_token_ids"][4:4] = [IMAGE_TOKENS[word] for word in IMAGE_WORDS]
            prompt["multi_modal_data"] = {"image": _image(number)}
    return prompts


def _image(number: int) -> Any:
    from PIL import Image  # noqa: PLC0415 (only where it runs)

    return Image.new("RGB", (IMAGE_SIDE, IMAGE_SIDE), (number, 2 * number, 3 * number))


def _sampling(requests: list[dict[str, Any]], tokens: int) -> list[Any]:
    from vllm import SamplingParams  # noqa: PLC0415 (only where it runs)

    return [
        SamplingParams(max_tokens=tokens, ignore_eos=True, detokenize=False, **request)
        for request in requests
    ]


def _adapter(name: str, folder: Path) -> Any:
    from vllm.lora.request import LoRARequest  # noqa: PLC0415 (only where it runs)

    write_adapter(name, folder)
    return LoRARequest("adapter", 1, str(folder))


def forked(name: str, mode: str, tokens: int, limit: float) -> Found:
    """Run it in a process of its own; return what was found, or why nothing was."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        child = os.fork()
        if not child:
            _in_child(name, mode, tokens, Path(folder))
        ended = _wait(child, start + limit)
        kept = Path(folder) / "found.json"
        found: Found = {"failure": ended or f"no result in {limit:.0f} s"}
        if kept.is_file():
            found = json.loads(kept.read_text(encoding="utf-8"))
    return {"model": name, "mode": mode, **found, "seconds": round(time.monotonic() - start, 1)}


def _wait(child: int, until: float) -> str:
    """Wait for the child; return how it ended, or nothing where the time was up and it was killed."""
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return f"exit status {os.waitstatus_to_exitcode(status)}"
        time.sleep(0.1)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return ""


def _in_child(name: str, mode: str, tokens: int, folder: Path) -> None:
    os.setpgid(0, 0)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # stdout is for results
    try:
        found = one_run(name, mode, tokens, folder)
    except BaseException as error:  # whatever a model raises, the others go on
        traceback.print_exc()
        found = {"failure": f"{type(error).__name__}: {next(iter(str(error).splitlines()), '')[:160]}"}
    (folder / "part.json").write_text(json.dumps(found), encoding="utf-8")
    (folder / "part.json").rename(folder / "found.json")
    os._exit(0)


def _import_vllm() -> None:
    """Import what all runs need, before the first fork."""
    for module in SHARED:
        importlib.import_module(module)


def main() -> None:
    """Append each result to a file as a line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kept", type=Path)
    parser.add_argument("runs", nargs="+", help="MODEL:MODE")
    parser.add_argument("--tokens", type=int, required=True)
    parser.add_argument("--limit", type=float, required=True)
    parser.add_argument("--gpu", action="store_true", help="on a real one")
    options = parser.parse_args()
    if not options.gpu:
        _import_vllm()
    for run in options.runs:
        name, _, mode = run.partition(":")
        found = forked(name, mode, options.tokens, options.limit)
        with options.kept.open("a", encoding="utf-8") as kept:
            kept.write(json.dumps(found) + "\n")
        print(f"{name} {mode}: {found.get('failure') or found['lines']} ({found['seconds']} s)", flush=True)


if __name__ == "__main__":
    main()
