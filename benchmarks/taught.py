"""What facts of the own tests of three libraries bring to the check of them.

    python benchmarks/taught.py PYTHON --sources FOLDER [--folder FOLDER] [--seconds S] [--keep]

PYTHON is that of an environment with torchvision 0.26.0, torchmetrics 1.9.0 and torchdiffeq 0.2.5, pytest, scipy and
scikit-learn. No package holds the tests: FOLDER has them as ``torchdiffeq/tests``, ``torchmetrics/tests`` and ``vision/test``;
what is not there is left out. Each suite is observed on the simulated GPU for at most S seconds, large ones
as a sample that is always the same (as in `parity.py`); the doctests of torchmetrics are in its package. Then each library is
checked without facts and with them, against the lines that ran and waited on a GPU (``labels/ran.json``).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import labels
from releases import CACHE, fetch

HERE = Path(__file__).resolve().parent
TEST_SECONDS = 120  # a test that takes longer ends its process; the others go on in another one
SYNCSCAN = (sys.executable, "-m", "syncscan")


@dataclass(frozen=True)
class Suite:
    """Tests of a library, in a folder of the sources or, where that is empty, of the installed package."""

    library: str
    folder: str
    tests: tuple[str, ...]
    options: tuple[str, ...] = ()


_DOCTESTS = ("--doctest-modules", "-o", "doctest_optionflags=NORMALIZE_WHITESPACE ELLIPSIS")
_METRICS = tuple(
    f"torchmetrics/{name}"
    for name in (
        "aggregation.py", "regression", "functional/regression", "retrieval", "functional/retrieval", "classification",
        "functional/classification", "functional/image/psnr.py", "functional/image/ssim.py", "image/psnr.py", "image/ssim.py",
        "utilities",
    )
)  # fmt: skip
_CUDA = "--parity-device=cuda"
SUITES = {
    "torchdiffeq": Suite("torchdiffeq", "torchdiffeq/tests", ("odeint_tests.py",)),
    "torchmetrics": Suite(
        "torchmetrics", "torchmetrics/tests", ("unittests/regression", "unittests/classification"),
        ("--parity-share=6", _CUDA),
    ),
    "torchmetrics-doctests": Suite("torchmetrics", "", _METRICS, (*_DOCTESTS, _CUDA)),
    "torchvision-ops": Suite("torchvision", "vision", ("test/test_ops.py",), ("--parity-share=4",)),
    "torchvision-models": Suite("torchvision", "vision", ("test/test_models.py",), ("--parity-share=8",)),
    "torchvision-transforms": Suite(
        "torchvision", "vision", ("test/test_transforms_v2.py",), ("--parity-share=16",)
    ),
}  # fmt: skip


def main() -> None:
    """Make the facts, and print what is found without and with them."""
    options = parse_options()
    options.folder.mkdir(parents=True, exist_ok=True)
    facts: list[Path] = []
    for name, suite in SUITES.items():
        folder = options.sources / suite.folder if suite.folder else installed(options.python)
        made = options.folder / f"{name}.json"
        if not folder.is_dir():
            print(f"{name}: left out, for {folder} is not there")
            continue
        if not (options.keep and made.exists()):
            observe(name, suite, folder, made, options)
        facts.append(made)
        print(f"{name}: {say_tests(options.folder / f'{name}.jsonl')}", flush=True)
    for title, used in (("without facts", []), ("with facts", facts)):
        score(title, used)


def parse_options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "python", type=Path, metavar="PYTHON", help="of an environment with the three libraries"
    )
    parser.add_argument("--sources", type=Path, required=True, help="a folder with the tests")
    parser.add_argument("--folder", type=Path, default=Path.home() / ".cache" / "syncscan-taught")
    parser.add_argument("--seconds", type=int, default=600, help="the longest that a suite may take")
    parser.add_argument("--keep", action="store_true", help="take the facts that an earlier run left")
    options = parser.parse_args()
    options.sources, options.folder = options.sources.resolve(), options.folder.resolve()
    options.python = options.python.absolute()
    return options


def installed(python: Path) -> Path:
    """Where an environment keeps its packages."""
    asked = "import sysconfig; print(sysconfig.get_path('purelib'))"
    return Path(
        subprocess.run([python, "-c", asked], capture_output=True, text=True, check=True).stdout.strip()
    )


def observe(name: str, suite: Suite, folder: Path, made: Path, options: argparse.Namespace) -> None:
    """Write the facts of a suite, and what came of its tests."""
    results, log = options.folder / f"{name}.jsonl", options.folder / f"{name}.log"
    results.write_text("")
    made.unlink(missing_ok=True)
    command = [
        *SYNCSCAN, "facts", "record", "--simulate", "--append", "--package", suite.library, "-o", str(made), "--",
        "timeout", str(options.seconds), str(options.python), "-P", "-m", "pytest", *suite.tests, *suite.options,
        "-p", "parity_plugin", "-p", "no:faulthandler", "-p", "no:cacheprovider", "-o", "addopts=", "--quiet", "--tb=no",
        "--disable-warnings", "--continue-on-collection-errors",
        f"--parity-results={results}", f"--parity-limit={TEST_SECONDS}",
    ]  # fmt: skip
    environment = {
        **os.environ, "PYTHONPATH": f"{HERE}{os.pathsep}{HERE.parent}", "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
    }  # fmt: skip
    began = time.monotonic()
    while time.monotonic() - began < options.seconds:
        with log.open("a") as output:
            subprocess.run(command, cwd=folder, env=environment, stdout=output, stderr=output, check=False)
        lines = results.read_text().splitlines()
        if not lines:
            sys.exit(f"pytest ran no test: see {log}")
        if "outcome" in json.loads(lines[-1]):  # no test ended the process
            break


def say_tests(results: Path) -> str:
    """How many tests of a suite were observed, and how they ended."""
    outcomes = {
        test["test"]: test.get("outcome", "not ended")
        for test in map(json.loads, results.read_text().splitlines())
    }
    counts = Counter(outcomes.values())
    return f"{len(outcomes)} tests, {', '.join(f'{counts[each]} {each}' for each in sorted(counts))}"


def score(title: str, facts: list[Path]) -> None:
    """Print what is found in each library, and the sum."""
    known = json.loads((HERE / "labels" / "ran.json").read_text())
    sums: Counter[str] = Counter()
    for release, places in sorted(known.items()):
        options = [word for path in facts for word in ("--facts", str(path))]
        command = [
            *SYNCSCAN,
            "check",
            "--isolated",
            "--environment",
            "none",
            "--output-format",
            "json",
            *options,
            labels.package_of(places),
        ]
        answer = subprocess.run(
            command, cwd=fetch(release, CACHE), capture_output=True, text=True, check=False
        )
        counts, _ = labels.score_ran(places, json.loads(answer.stdout)["findings"])
        sums.update(counts)
        print(f"{title}, {release}: {labels.say('ran', counts)}", flush=True)
    print(f"{title}, all: {labels.say('ran', sums)}", flush=True)


if __name__ == "__main__":
    main()
