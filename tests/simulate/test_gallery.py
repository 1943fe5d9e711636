"""The page of the gallery, and the command that makes the part of vLLM."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.gallery_page import Runs, agreement, with_part
from benchmarks.gallery_vllm import MODES, SOURCE, all_runs, modes_of, part, read, tidy
from benchmarks.vllm_models import EMBEDDING, MODELS, VISION

TITLES = st.sampled_from(["transformers", "vLLM", "SGLang"])
TEXTS = st.text("ab |`\n", min_size=1).filter(str.strip)


@given(st.lists(st.tuples(TITLES, TEXTS), max_size=6))
def test_each_part_of_the_page_is_what_was_written_last(written: list[tuple[str, str]]) -> None:
    page = ""
    for title, text in written:
        page = with_part(page, title, text)
    for title, text in dict(written).items():
        assert f"## {title}\n\n{text.strip()}" in page
    assert page.count("## ") == len(dict(written))


RUNS = st.dictionaries(
    st.tuples(st.sampled_from("ab"), st.sampled_from("xy")),
    st.dictionaries(st.sampled_from(["a.py:1", "a.py:2", "b.py:3"]), st.sampled_from([0.5, 1.0]))
    | st.just("OSError: no"),
)


@given(RUNS)
def test_the_same_runs_agree(runs: Runs) -> None:
    said, differences = agreement(runs, runs)
    lines = sum(len(found) for found in runs.values() if not isinstance(found, str))
    assert (
        f"{lines} of the {lines} lines that block on the GPU block simulated, {lines} of them at the same rate"
        in said
    )
    assert len(differences) == list(runs.values()).count("OSError: no")


@given(RUNS, RUNS)
def test_every_line_that_differs_is_named(real: Runs, simulated: Runs) -> None:
    said, differences = agreement(real, simulated)
    both = there = here = 0
    expected = []
    for run in real.keys() & simulated.keys():
        gpu, own = real[run], simulated[run]
        if isinstance(gpu, str) or isinstance(own, str):
            continue
        both, there, here = both + len(gpu.keys() & own.keys()), there + len(gpu), here + len(own)
        expected += [
            f"{' '.join(run)}: {line}: {gpu.get(line, 0):g} on the GPU, {own.get(line, 0):g} simulated"
            for line in gpu.keys() | own.keys()
            if gpu.get(line) != own.get(line)
        ]
    assert f"{both} of the {there} lines" in said
    assert f"{both} of the {here} simulated lines" in said
    assert sorted(each for each in differences if "not compared" not in each) == sorted(expected)


def test_a_row_names_lines_once_and_each_failure() -> None:
    line = {"v1/worker/gpu/async_utils.py:50": 1.0}
    results = {
        ("llama", "plain"): {"lines": line, "steps": 9, "seconds": 8},
        ("llama", "chunked"): {"lines": line, "steps": 20, "seconds": 52},
        ("llama", "LoRA"): {"failure": "ValueError: no such layer", "seconds": 0},
    }
    said = part(results, "vLLM 1.2.3")
    assert "2 of 3 runs went through, in 1 minutes" in said
    assert said.splitlines()[-1] == (
        "| llama | 1 | 1 | - | - | failed | plain, chunked: `v1/worker/gpu/async_utils.py:50`: 1<br>LoRA: ValueError: no such layer |"
    )


def _made_with(kept: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks.gallery_vllm", "no-such-python", "--kept", str(kept)]
    return subprocess.run(command, cwd=SOURCE, capture_output=True, text=True, check=False)


def test_what_was_kept_is_not_made_again(tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    lines = [
        json.dumps({"model": name, "mode": mode, "lines": {}, "seconds": 1}) for name, mode in all_runs()
    ]
    kept.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    assert _made_with(kept).returncode == 0
    kept.write_text("".join(f"{line}\n" for line in lines[1:]), encoding="utf-8")
    assert _made_with(kept).returncode != 0


def test_the_last_result_of_each_run_that_is_still_made_is_kept(tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    runs = [("llama", "plain"), ("no such model", "plain"), ("llama", "plain"), ("glm", "LoRA")]
    found = [{"model": name, "mode": mode, "seconds": seconds} for seconds, (name, mode) in enumerate(runs)]
    kept.write_text("".join(f"{json.dumps(each)}\n" for each in found), encoding="utf-8")
    tidy(kept)
    assert list(read(kept).values()) == [found[3], found[2]]
    assert len(kept.read_text(encoding="utf-8").splitlines()) == 2


def test_every_model_has_the_mode_without_options() -> None:
    assert all("plain" in modes_of(name) for name in (*MODELS, *EMBEDDING, *VISION))
    assert {mode for name in MODELS for mode in modes_of(name)} == set(MODES)
