"""Runs the tests of libraries on the simulated GPU and stores which lines ran and which synchronized.

    python -m benchmarks.simulated_truth.collect PYTHON [--folder FOLDER] [--seconds S] [--again] [LIBRARY ...]

PYTHON is that of an environment with torch and pytest, of Python 3.12 or newer; what a library needs is installed there.
``suites.toml`` names the libraries. The tests come from the release's source distribution; all that they make is put on
the GPU (`gpu_plugin.py`), and after S seconds of the processor, 300 if nothing is said, the suite is stopped. A library that is stored is left out without ``--again``, which adds to it what another run shows.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomllib  # Python 3.11 or newer

from benchmarks import releases
from benchmarks.simulated_truth.truth import DATA, DEVELOPMENT, NO_RULE, Truth, half_of, libraries, read

HERE = Path(__file__).resolve().parent
WALL_TIMES = 8  # the time that a suite may take, in multiples of that of the processor
OUT_OF_TIME = (124, 128 + signal.SIGXCPU, 128 + signal.SIGKILL)  # of `timeout` and `prlimit`
MOVES_MODULE = "move_module"  # in the plugin
TEST_SECONDS = 60  # a test that takes longer ends its process; the others go on in another one
# Of the syncscan that is installed, which need not be the one beside this script.
_SIMULATION = f"{os.sep}syncscan{os.sep}simulate{os.sep}inside{os.sep}"
PLUGINS = HERE / "gpu_plugin.py", HERE.parent / "parity_plugin.py"


@dataclass(frozen=True)
class Suite:
    """A library and its tests, in folders of its source distribution."""

    release: str
    package: str
    tests: tuple[str, ...] = ("tests",)
    needs: tuple[str, ...] = ()
    helpers: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    kind: str = ""
    alone: bool = False

    def paths(self, source: Path, *, with_helpers: bool = True) -> list[str]:
        """Return the files and folders of the tests, and of what helps them."""
        patterns = self.tests + (self.helpers if with_helpers else ())
        return sorted(str(path) for pattern in patterns for path in source.glob(pattern))


def suites() -> dict[str, Suite]:
    """Return the suites by the name of the library."""
    table = tomllib.loads((HERE / "suites.toml").read_text())
    return {
        name: Suite(**{key: tuple(each) if isinstance(each, list) else each for key, each in entry.items()})
        for name, entry in table.items()
    }


def main() -> None:
    """Store the truth of the libraries that are named, or of all that are not stored."""
    options = parse_options()
    stored = set() if options.again else set(libraries(options.data))
    for name in options.library or suites():
        if name in stored:
            continue
        began = time.monotonic()
        try:
            said = collect(name, suites()[name], options)
        except Exception as error:
            said = f"{type(error).__name__}: {str(error)[-1500:]}"
        print(f"{name} ({half_of(name)}): {said} ({time.monotonic() - began:.0f} s)", flush=True)


def parse_options() -> argparse.Namespace:
    """Return the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("python", type=Path, metavar="PYTHON")
    parser.add_argument("library", nargs="*", metavar="LIBRARY")
    parser.add_argument("--folder", type=Path, default=Path.home() / ".cache" / "syncscan-truth")
    parser.add_argument("--data", type=Path, default=DATA, help="where the truth is stored")
    parser.add_argument("--seconds", type=int, default=300, help="of the processor, for each suite")
    parser.add_argument("--again", action="store_true", help="also what is stored")
    options = parser.parse_intermixed_args()
    options.python, options.folder = options.python.absolute(), options.folder.resolve()
    if unknown := set(options.library) - suites().keys():
        parser.error(f"suites.toml names no {', '.join(sorted(unknown))}")
    return options


def collect(name: str, suite: Suite, options: argparse.Namespace) -> str:
    """Store the truth of a library, and return what came of its tests in words."""
    source = fetch(suite.release, options.folder / "sources").resolve()
    install(suite, options.python)
    results = options.folder / "results" / f"{name}.jsonl"
    results.parent.mkdir(parents=True, exist_ok=True)
    results.write_text("")
    results.with_suffix(".log").unlink(missing_ok=True)
    roots = (source / "src", source, site_packages(options.python))
    truth = stored_or_new(name, suite, options.data)
    ends = time.monotonic() + WALL_TIMES * options.seconds
    while (left := ends - time.monotonic()) > 0:
        with tempfile.TemporaryDirectory() as folder:
            code = run(suite, source, results, left, Path(folder), options)
            add(truth, Path(folder) / "trace.json", roots, source, suite)
        lines = results.read_text().splitlines()
        if not lines:
            raise RuntimeError(f"pytest ran no test: see {results.with_suffix('.log')}")
        if "outcome" in json.loads(lines[-1]) or code in OUT_OF_TIME:  # no test ended the process
            break
    truth.write(options.data)
    return say(truth, results)


def stored_or_new(name: str, suite: Suite, data: Path) -> Truth:
    """Return what earlier runs of this release showed: a suite that is cut short runs other lines each time."""
    stored = read(name, data) if name in libraries(data) else None
    if stored is not None and stored.release == suite.release:
        return stored
    return Truth(name, suite.release, suite.package, {}, {})


def fetch(release: str, sources: Path) -> Path:
    """Return the folder of a source distribution; pip downloads what is not there."""
    folder = sources / release.replace("==", "-")
    if not folder.exists():
        sources.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=sources) as scratch:
            found = releases.source_distribution(release, Path(scratch))
            if found is None:
                raise RuntimeError(f"{release} has no source distribution")
            shutil.move(str(found), folder)
    return folder


def install(suite: Suite, python: Path) -> None:
    """Install a release and what it needs, unless it is there, and leave torch as it is."""
    name, _, wanted = suite.release.partition("==")
    if version(name, python) == wanted:
        return
    torch = f"torch=={version('torch', python)}"
    alone, needs = ("--no-deps", suite.release), (torch, *suite.needs)
    for arguments in (needs, alone) if suite.alone else ((*needs, suite.release),):
        command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr)


def version(name: str, python: Path) -> str:
    """Return the version of an installed package, or nothing."""
    asked = f"import importlib.metadata; print(importlib.metadata.version({name!r}).partition('+')[0])"
    return subprocess.run([python, "-c", asked], capture_output=True, text=True, check=False).stdout.strip()


def site_packages(python: Path) -> Path:
    """Return where an environment keeps its packages."""
    asked = "import sysconfig; print(sysconfig.get_path('purelib'))"
    answer = subprocess.run([python, "-c", asked], capture_output=True, text=True, check=True)
    return Path(answer.stdout.strip()).resolve()


def run(
    suite: Suite, source: Path, results: Path, seconds: float, folder: Path, options: argparse.Namespace
) -> int:
    """Trace the tests that were not run until one of them ends the process, and return its exit status."""
    tests = suite.paths(source, with_helpers=False)
    command = [
        sys.executable, "-m", "syncscan", "trace", "--simulate", "--lines", *included(suite, source), "-o", str(folder), "--",
        "timeout", str(round(seconds) + 1), "prlimit", f"--cpu={options.seconds}", str(options.python), "-m", "pytest", *tests, *suite.options,
        *(f"--truth-tests={test}" for test in suite.paths(source)),
        *(word for plugin in PLUGINS for word in ("-p", plugin.stem)),
        "-p", "no:faulthandler", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:randomly", "-o", "addopts=", "-o", "filterwarnings=", "--quiet",
        "--tb=no", "--disable-warnings", "--continue-on-collection-errors",
        f"--parity-results={results}", f"--parity-limit={TEST_SECONDS}",
    ]  # fmt: skip
    environment = {
        **os.environ, "PYTHONPATH": os.pathsep.join([*(str(plugin.parent) for plugin in PLUGINS), str(source)]), "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "MPLBACKEND": "Agg", "WANDB_MODE": "disabled", "PYTORCH_JIT": "0",
        **dict(word.split("=", 1) for word in suite.environment),
    }  # fmt: skip
    with results.with_suffix(".log").open("a") as log:
        done = subprocess.run(
            command,
            cwd=source,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            check=False,
        )
    return done.returncode


def included(suite: Suite, source: Path) -> list[str]:
    """Return the options that blame the package alone: to find the rule of a site takes time."""
    excluded = [str(PLUGINS[0]), *(f"{test}*" for test in suite.paths(source))]
    return ["--include", f"*/{suite.package}/*", *(word for path in excluded for word in ("--exclude", path))]


def add(truth: Truth, trace: Path, roots: tuple[Path, ...], source: Path, suite: Suite) -> None:
    """Add what a trace saw of the package, without its tests."""
    seen: dict[str, Any] = json.loads(trace.read_text())
    tests = tuple(suite.paths(source))

    def place(path: str) -> str | None:
        """Return a path of the package relative to the folder that holds it."""
        if path.startswith(tests):
            return None
        inside = (Path(path).relative_to(root) for root in roots if Path(path).is_relative_to(root))
        return next((each.as_posix() for each in inside if each.parts[0] == suite.package), None)

    for path, parts in (seen["lines"] or {}).items():
        if (name := place(path)) is not None:
            ran = truth.ran.setdefault(name, set())
            ran.update(line for first, last in parts for line in range(first, last + 1))
    torch = str(roots[-1] / "torch")
    for site in sorted(seen["sites"], key=lambda site: site["count"]):
        name = place(site["path"]) if is_innermost(site, torch) else None
        if name is not None:  # the rule of a line is that of its most frequent site
            truth.synced.setdefault(name, {})[site["line"]] = site["code"] or NO_RULE
            truth.ran.setdefault(name, set()).add(site["line"])


def is_innermost(site: dict[str, Any], torch: str) -> bool:
    """Return whether a site is the innermost frame outside torch in one of its stacks, and no caller of other code."""
    blamed = f"{site['path']}:{site['line']}:"
    innermost = (
        next((frame for frame in stack["frames"] if not is_passed_by(frame, torch)), "")
        for stack in site["stacks"]
    )
    return any(frame.startswith(blamed) for frame in innermost)


def is_passed_by(frame: str, torch: str) -> bool:
    """Return whether a frame stands between a site and what it calls; the plugin's move of a module is no site's."""
    path = frame.partition(":")[0]
    is_ours = path.endswith(PLUGINS[0].name) or _SIMULATION in path
    return (is_ours or frame.startswith((torch + os.sep, "<"))) and not frame.endswith(f":{MOVES_MODULE}")


def say(truth: Truth, results: Path) -> str:
    """Return what came of the tests, and of a development library how many lines synchronized."""
    tests = [json.loads(line) for line in results.read_text().splitlines()]
    ended = {test["test"]: test.get("outcome", "not ended") for test in tests}
    counts = ", ".join(f"{count} {outcome}" for outcome, count in sorted(Counter(ended.values()).items()))
    said = f"{len(ended)} tests, {counts}"
    if truth.half == DEVELOPMENT:
        lines = [sum(map(len, files.values())) for files in (truth.ran, truth.synced)]
        said += f"; {lines[0]} lines ran, {lines[1]} synchronized"
    return said


if __name__ == "__main__":
    main()
