"""Test suites of other projects on the plain CPU and on the simulated GPU: what passes there has to pass here.

    python benchmarks/parity.py [--folder FOLDER] [--sources FOLDER] [--share N] [--keep] [SUITE ...]

For each suite: fetches the release from PyPI, makes an environment of its own for all of them in FOLDER
(torch 2.13.0 for the CPU, about 1.5 GB), and runs the same tests in the same order with the same seeds three times:

    cpu        without syncscan
    simulated  with ``pytest --syncscan=simulate``: the tests as they are, and those that want a GPU
    cuda       the same with ``torch.set_default_device("cuda")``: what names no device is made on the GPU

and prints a table, then every kind of failure with its count. A large suite is sampled: one test in N, chosen by a
hash of its name. The results of each run stay in FOLDER/results; ``--keep`` takes them from there where they are
whole. The tests of torchvision and the unit tests of torchmetrics are in no package on PyPI: for them ``--sources``
names a folder that holds the source trees (``vision``, ``torchmetrics``); without it they are left out. A SUITE may also
be a library of ``simulated_truth/suites.toml``.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tarfile
import time
import venv
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tomllib

HERE = Path(__file__).resolve().parent
TORCH = "torch==2.13.0"
ENDED = "the test ended the process, or took too long"
TEST_SECONDS = 120  # a test that takes longer counts as failed, in every run
RUNS = {
    "cpu": [],
    "simulated": ["--syncscan=simulate"],
    "cuda": ["--syncscan=simulate", "--parity-device=cuda"],
}

# What torch raises on a GPU too, where a test puts its operands in two places; each is judged by reading.
_PLACEMENT = re.compile(
    "Expected all tensors to be on the same device|device type tensor to numpy"
    "|Expected a 'cuda' device type for generator|indices should be either on cpu"
)

Result = dict[str, Any]
Results = dict[str, dict[str, Result]]  # by run and test


@dataclass(frozen=True)
class Suite:
    """A project's tests, and what they need."""

    package: str  # the release on PyPI; empty where the source tree is built
    tests: tuple[str, ...]  # paths in its source tree, or patterns of them
    share: int = 1  # one test in so many is run
    needs: tuple[str, ...] = ()
    source: str = ""  # the name of its source tree, where the package on PyPI has no tests
    options: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    dependencies: bool = False  # whether pip installs what the release asks for


def suites_of_truth() -> dict[str, Suite]:
    """Return the suites whose lines `simulated_truth` stores, by the name of the library."""
    table = tomllib.loads((HERE / "simulated_truth" / "suites.toml").read_text())
    return {
        name: Suite(
            entry["release"],
            tuple(entry.get("tests", ["tests"])),
            needs=tuple(entry.get("needs", [])),
            options=tuple(entry.get("options", [])),
            environment=tuple(tuple(each.split("=", 1)) for each in entry.get("environment", [])),
            dependencies=not entry.get("alone"),
        )
        for name, entry in table.items()
    }


_TIMM = ("pyyaml", "huggingface_hub", "safetensors", "expecttest")
_EXAMPLES = ("--doctest-modules", "-o", "doctest_optionflags=NORMALIZE_WHITESPACE ELLIPSIS")
_METRICS = ("classification", "regression")
SUITES = {
    "linear_operator": Suite(
        "linear_operator==0.6.1", ("test",), share=4, needs=("jaxtyping", "mpmath", "scipy")
    ),
    "gpytorch": Suite(
        "gpytorch==1.15.2", ("test",), share=8, needs=("linear_operator==0.6.1", "scikit-learn")
    ),
    "einops": Suite(
        "einops==0.8.2", ("einops/tests",), environment=(("EINOPS_TEST_BACKENDS", "numpy,torch"),)
    ),
    "roma": Suite("roma==1.8.0", ("test",), options=("--confcutdir=test",)),  # an `__init__.py` lies at its top
    "torchsparsegradutils": Suite(
        "torchsparsegradutils==0.2.7", ("torchsparsegradutils/tests",), share=16, needs=("scipy",)
    ),
    "zuko": Suite("zuko==1.6.0", ("tests",)),
    "pytorch_optimizer": Suite("pytorch_optimizer==4.1.0", ("tests",), share=8),
    "timm": Suite(
        "timm==1.0.31", ("tests",), share=16, needs=_TIMM, options=("--ignore=tests/test_models.py",)
    ),
    "timm-models": Suite("timm==1.0.31", ("tests/test_models.py",), share=1000, needs=_TIMM),
    "torchmetrics-doctests": Suite(
        "torchmetrics==1.9.0",
        tuple(f"src/torchmetrics/{folder}{name}" for folder in ("", "functional/") for name in _METRICS),
        needs=("lightning-utilities", "scipy"),
        options=_EXAMPLES,
    ),
    "torchmetrics": Suite(
        "torchmetrics==1.9.0", tuple(f"tests/unittests/{name}" for name in _METRICS), share=16,
        needs=("lightning-utilities", "scikit-learn"), source="torchmetrics",
    ),
    "torch_geometric-doctests": Suite(
        "torch_geometric==2.8.1", ("torch_geometric/utils", "torch_geometric/nn", "torch_geometric/transforms", "torch_geometric/data"),
        needs=("scipy",), options=_EXAMPLES, dependencies=True,
    ),
    "torchvision-ops": Suite("", ("test/test_ops.py",), share=4, source="vision", needs=("pillow",)),
    "torchvision-transforms": Suite(
        "", ("test/test_transforms_v2.py",), share=16, source="vision", needs=("pillow",)
    ),
}  # fmt: skip


def main() -> None:
    """Run the suites and print the table."""
    options = parse_options()
    rows = []
    for name in options.suite or SUITES:
        suite = (suites_of_truth() | SUITES)[name]
        source = fetch(suite, options)
        if source is None:
            print(
                f"{name}: left out, for its tests are in no package: name a folder with {suite.source}/ in it"
            )
            continue
        prepare(suite, source, options.folder)
        suite = replace(suite, share=options.share or suite.share)
        paths = {run: options.folder / "results" / f"{name}-{suite.share}-{run}.jsonl" for run in RUNS}
        for run, path in paths.items():
            if not (options.keep and path.exists()):
                print(f"{name}, {run}", file=sys.stderr)
                run_suite(suite, run, source, path, options)
        rows.append((name, suite.share, {run: read_results(path) for run, path in paths.items()}))
    print_table(rows)
    for name, _, results in rows:
        print_failures(name, results)


def parse_options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("suite", nargs="*", metavar="SUITE", help=", ".join(SUITES))
    parser.add_argument("--folder", type=Path, default=Path.home() / ".cache" / "syncscan-parity")
    parser.add_argument("--sources", type=Path, help="a folder with the source trees that PyPI does not have")
    parser.add_argument("--share", type=int, help="run one test in so many, instead of what each suite says")
    parser.add_argument(
        "--seconds", type=int, default=900, help="the longest that one run of a suite may take"
    )
    parser.add_argument("--keep", action="store_true", help="take the results that earlier runs left")
    options = parser.parse_args()
    for name in options.suite:
        if name not in (known := suites_of_truth() | SUITES):
            parser.error(f"no suite {name!r}; there are {', '.join(known)}")
    return options


# the tests, and what they need


def fetch(suite: Suite, options: argparse.Namespace) -> Path | None:
    """The source tree of a suite; None where only ``--sources`` can say where it is."""
    if suite.source:
        tree: Path | None = options.sources / suite.source if options.sources else None
        return tree.resolve() if tree is not None and tree.is_dir() else None
    sources = options.folder / "sources"
    name = re.sub("[-_.]", "[-_.]", suite.package.replace("==", "-"))  # an archive may spell it otherwise
    if not any(sources.glob(name)):
        sources.mkdir(parents=True, exist_ok=True)
        only_source = ("--no-deps", "--no-binary", ":all:", "--dest", str(sources))
        pip(Path(sys.executable), "download", *only_source, suite.package)
        with tarfile.open(next(sources.glob(f"{name}.tar.gz"))) as archive:
            archive.extractall(sources, filter="data")
    return next(sources.glob(name))


def prepare(suite: Suite, source: Path, folder: Path) -> None:
    """Install a suite and what it needs into the environment of the suites, unless that was done."""
    python = folder / "venv" / "bin" / "python"
    if not python.exists():
        venv.create(folder / "venv", with_pip=True)
        pip(python, "install", TORCH, "numpy", "pytest", "setuptools<80", "wheel")
        pip(python, "install", "--editable", str(HERE.parent))
    marker = folder / "venv" / f"{source.name}.installed"
    if not marker.exists():
        pip(python, "install", TORCH, *suite.needs)
        what = [suite.package] if suite.package else ["--no-build-isolation", str(source)]
        pip(python, "install", *([TORCH] if suite.dependencies else ["--no-deps"]), *what)
        marker.touch()


def pip(python: Path, *arguments: str) -> None:
    """Run pip, without a word unless it fails; torchvision is built for the CPU."""
    command = [str(python), "-m", "pip", *arguments]
    done = subprocess.run(
        command, env={**os.environ, "FORCE_CUDA": "0"}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr[-3000:]}")


# running them


def run_suite(suite: Suite, run: str, source: Path, path: Path, options: argparse.Namespace) -> None:
    """Write what came of each test; one that ends the process is left behind and the rest goes on."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    began = time.monotonic()
    tests = [str(path.relative_to(source)) for part in suite.tests for path in sorted(source.glob(part))]
    command = [
        str(options.folder / "venv" / "bin" / "pytest"), *tests, *suite.options, *RUNS[run],
        "-p", "parity_plugin", "-p", "no:faulthandler", "-p", "no:cacheprovider", "-p", "no:randomly",
        "-o", "addopts=", "--continue-on-collection-errors", "--quiet", "--tb=no", "--disable-warnings",
        f"--parity-results={path}", f"--parity-share={suite.share}", f"--parity-limit={TEST_SECONDS}",
    ]  # fmt: skip
    while (left := options.seconds - (time.monotonic() - began)) > 0:
        run_pytest(command, suite, source, left, path.with_suffix(".log"))
        lines = path.read_text().splitlines()
        if not lines:
            sys.exit(f"pytest ran no test: see {path.with_suffix('.log')}")
        if "outcome" in json.loads(lines[-1]):
            break
    print(f" in {time.monotonic() - began:.0f} s", file=sys.stderr)


def run_pytest(command: list[str], suite: Suite, source: Path, seconds: float, log: Path) -> None:
    """One process, ended when its time is over."""
    environment = {
        **os.environ, **dict(suite.environment), "PYTHONPATH": str(HERE), "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "HF_HUB_OFFLINE": "1",
    }  # fmt: skip
    with log.open("a") as output:
        process = subprocess.Popen(
            command, cwd=source, env=environment, stdin=subprocess.DEVNULL, stdout=output
        )
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            print(" stopped, for its time is over", file=sys.stderr)


def read_results(path: Path) -> dict[str, Result]:
    """The results by the names of the tests."""
    results: dict[str, Result] = {}
    for line in path.read_text().splitlines():
        result = json.loads(line)
        if "outcome" not in result:  # it began
            result.update(outcome="failed", gpu=False, error="", message=ENDED)
        results[result["test"]] = result
    return results


# what came of it


def kind(result: Result | None) -> str:
    """What a simulated run of a test came to."""
    if result is None:
        return "not run"
    if result["outcome"] != "failed":
        return str(result["outcome"])
    if result["error"] == "SimulationError":
        return "not simulated"
    if _PLACEMENT.search(result["message"]):
        return "placement"
    return "otherwise"


def passed_on_cpu(results: Results) -> list[str]:
    """The tests that all is held against."""
    return [test for test, result in results["cpu"].items() if result["outcome"] == "passed"]


def only_with_gpu(results: Results) -> list[str]:
    """Tests that run only where there is a GPU, without those whose twins for the CPU fail there."""
    cpu = results["cpu"]

    def is_extra(test: str, result: Result) -> bool:
        fails = cpu.get(test.replace("cuda", "cpu"), {}).get("outcome") in {"failed", "xfailed"}
        runs = cpu.get(test, {}).get("outcome", "skipped") != "skipped"
        return result["outcome"] in {"passed", "failed"} and not runs and not fails

    return [test for test, result in results["simulated"].items() if is_extra(test, result)]


def print_table(rows: list[tuple[str, int, Results]]) -> None:
    """A line for each suite."""
    print(
        "\n| suite | one in | pass on the CPU | simulated: pass / not simulated / otherwise"
        " | only with a GPU: pass / not simulated / otherwise"
        " | default device cuda: on the GPU, of these pass / not simulated / placement / otherwise |\n"
        "|---|---|---|---|---|---|"
    )
    for name, share, results in rows:
        tests = passed_on_cpu(results)
        moved = [test for test in tests if results["cuda"].get(test, {}).get("gpu")]
        cells = (
            cell(results["simulated"], tests, "not simulated"),
            cell(results["simulated"], only_with_gpu(results), "not simulated"),
            f"{len(moved)}: {cell(results['cuda'], moved, 'not simulated', 'placement')}",
        )
        print(f"| {name} | {share} | {len(tests)} | {' | '.join(cells)} |")


def cell(results: dict[str, Result], tests: list[str], *kinds: str) -> str:
    """How many of these tests pass, how many fail in these ways, and how many in another."""
    counts = Counter(kind(results.get(test)) for test in tests)
    named = [counts[name] for name in ("passed", *kinds)]
    return " / ".join(map(str, [*named, len(tests) - sum(named)]))


def print_failures(name: str, results: Results) -> None:
    """What does not pass, by run and error, with the first test of each."""
    groups = {
        "simulated": ("simulated", passed_on_cpu(results)),
        "only with a GPU": ("simulated", only_with_gpu(results)),
        "default device cuda": ("cuda", passed_on_cpu(results)),
    }
    for title, (run, tests) in groups.items():
        found: dict[str, list[str]] = {}
        for test in tests:
            result = results[run].get(test)
            if kind(result) != "passed":
                found.setdefault(describe(result), []).append(test)
        for text, failed in sorted(found.items(), key=lambda item: -len(item[1])):
            print(f"{name}, {title}: {len(failed)} x {text}\n    {failed[0]}")


def describe(result: Result | None) -> str:
    """A failure in a line, without the numbers that differ from test to test."""
    if result is None or result["outcome"] != "failed":
        return kind(result)
    return f"{kind(result)}: {result['error']} {re.sub(r'[0-9]+', 'N', result['message'])[:120]}"


if __name__ == "__main__":
    main()
