"""How many known defects `syncscan check` finds in the releases that still hold them.

    python benchmarks/labels.py [--labels FOLDER] [--sources FOLDER] [--missed] [RELEASE ...]

The labels are statements that merged changes of public projects removed because they made the CPU wait
for the GPU. They, and the script that fetches a release, lie beside a development checkout
(``../shared``); where they do not, this script says so and stops. RELEASE is for instance vllm==0.19.0.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"
PACKAGES = {
    "vllm-project/vllm": "vllm",
    "sgl-project/sglang": "sglang",
    "NVIDIA/Megatron-LM": "megatron-core",
    "deepspeedai/DeepSpeed": "deepspeed",
    "huggingface/transformers": "transformers",
    "pytorch/torchtitan": "torchtitan",
    "fla-org/flash-linear-attention": "flash-linear-attention",
    "Lightning-AI/pytorch-lightning": "pytorch-lightning",
    "Lightning-AI/torchmetrics": "torchmetrics",
}

Label = dict[str, Any]
Release = str


def main() -> None:
    """Print a line for each release, and the sums for each list of labels."""
    options = parse_options()
    if not options.labels.is_dir():
        sys.exit(f"no labels in {options.labels}: name their folder with --labels")
    wanted = by_release(options.labels)
    scores: dict[str, list[bool]] = defaultdict(list)
    for release in options.release or sorted(wanted):
        source = fetch(release, options.sources)
        if source is None:
            print(f"{release:40} cannot be fetched; its {len(wanted[release])} labels are left out")
            continue
        findings, seconds = check(source)
        found = [(name, label, is_found(label, line, findings)) for name, label, line in wanted[release]]
        for name, _, hit in found:
            scores[name].append(hit)
        hits = sum(hit for _, _, hit in found)
        print(f"{release:40} {hits:3} of {len(found):3} labels  {len(findings):5} findings  {seconds:5.1f} s")
        if options.missed:
            for name, label, hit in found:
                if not hit:
                    print(
                        f"    {name} {label['id']:18} {label['path']} {label['function']}: {label['expression']!r}"
                    )
    for name, hits_of in sorted(scores.items()):
        print(f"{name}: {sum(hits_of)} of {len(hits_of)} strict labels, {sum(hits_of) / len(hits_of):.0%}")


def parse_options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("release", nargs="*")
    parser.add_argument("--labels", type=Path, default=SHARED / "labels")
    parser.add_argument("--sources", type=Path, default=Path.home() / ".cache" / "syncscan-sources")
    parser.add_argument("--missed", action="store_true", help="list the labels that were not found")
    return parser.parse_args()


def by_release(folder: Path) -> dict[Release, list[tuple[str, Label, int]]]:
    """For each release, the strict labels in it: the list's name, the label, its line there."""
    wanted: dict[Release, list[tuple[str, Label, int]]] = defaultdict(list)
    for path in sorted(folder.glob("*.json")):
        for label in json.loads(path.read_text()):
            for version, line in label["found_in"].items():
                if label["strict"]:
                    number = re.sub(r"^(core_)?v", "", version)
                    wanted[f"{PACKAGES[label['repo']]}=={number}"].append((path.stem, label, line))
    return wanted


def fetch(release: Release, folder: Path) -> Path | None:
    """The folder with the source of a release."""
    known = folder / release.replace("==", "-")
    if not known.exists():
        script = SHARED / "tools" / "fetch_source.py"
        subprocess.run([sys.executable, script, release, folder], stdout=subprocess.DEVNULL, check=False)
    return known if known.exists() else None


def check(source: Path) -> tuple[list[dict[str, Any]], float]:
    """The findings of `syncscan check` in the package that a release is about, and the seconds it took."""
    name = re.split(r"-\d", source.name)[0].replace("-", "_")
    package = next(
        (
            folder
            for folder in (source / name, source / "python" / name, source / "src" / name)
            if folder.is_dir()
        ),
        source,
    )
    start = time.perf_counter()
    command = [sys.executable, "-m", "syncscan", "check", "--isolated", "--format", "json", str(package)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode not in {0, 1, 2}:
        sys.exit(f"syncscan check failed on {package}: {answer.stderr}")
    return json.loads(answer.stdout)["findings"], time.perf_counter() - start


def is_found(label: Label, line: int, findings: list[dict[str, Any]]) -> bool:
    """Whether a finding stands on a line of the labelled statement.

    A release may have another folder above the package than the repository has (``src/``), so the last
    three parts of a path are compared.
    """
    lines = range(line, line + label["lines"])
    tail = Path(label["path"]).parts[-3:]
    return any(Path(finding["path"]).parts[-3:] == tail and finding["line"] in lines for finding in findings)


if __name__ == "__main__":
    main()
