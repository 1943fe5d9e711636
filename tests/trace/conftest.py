"""A stand-in for CUDA: a library that tells its subscriber of calls, and a ``torch`` that makes them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from syncscan.trace.contract import TRACE

ROOT = Path(__file__).parents[2]
FAKE_CUDA = Path(__file__).parent / "fake_cuda"


@dataclass
class Traced:
    """A finished ``syncscan trace``: its status, its output, and the trace it kept."""

    status: int
    stdout: str
    stderr: str
    trace: dict[str, Any]
    folder: Path

    @property
    def sites(self) -> list[dict[str, Any]]:
        return self.trace["sites"]

    def site(self, expression: str, **fields: object) -> dict[str, Any]:
        """The one site of an expression with these fields."""
        found = [
            site
            for site in self.sites
            if site["expression"] == expression and all(site[name] == value for name, value in fields.items())
        ]
        assert len(found) == 1, [(site["expression"], site["phase"], site["count"]) for site in self.sites]
        return found[0]

    def counts(self) -> dict[str, int]:
        """Waits by expression."""
        counts: dict[str, int] = {}
        for site in self.sites:
            counts[site["expression"]] = counts.get(site["expression"], 0) + site["count"]
        return counts


@pytest.fixture(scope="session")
def cuda_library(tmp_path_factory):
    """The stand-in for libcupti and libcuda, compiled."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("needs a C compiler for the stand-in of CUDA")
    library = tmp_path_factory.mktemp("cuda") / "libcupti.so"
    source = FAKE_CUDA / "fake_cuda.c"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source, "-ldl", "-lpthread"], check=True)
    library.with_name("libcuda.so.1").symlink_to(library)  # one library: what the one is told the other knows
    return library


@pytest.fixture
def environment(cuda_library):
    """The environment in which ``import torch`` gives the stand-in."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SYNCSCAN", "PYTHON"))}
    return {
        **kept,
        "FAKE_CUDA_LIBRARY": str(cuda_library),
        "LD_LIBRARY_PATH": str(cuda_library.parent),
        "PYTHONPATH": os.pathsep.join([str(FAKE_CUDA), str(ROOT)]),
        "COLUMNS": "120",
    }


@pytest.fixture
def program(tmp_path):
    """Writes a program into a file; ``program(source)`` gives its path."""

    def write(source: str, name: str = "program.py") -> Path:
        path = tmp_path / name
        path.write_text(textwrap.dedent(source))
        return path

    return write


@pytest.fixture
def run_trace(tmp_path, environment, warm):
    """Runs a command under ``syncscan trace``: ``run_trace(command, options, **variables)``."""

    def run(command: list[object], options: tuple[str, ...] = (), **variables: str) -> Traced:
        folder = tmp_path / "trace"
        arguments = [*options, "-o", folder, "--", *command]
        done = warm.run("trace", *arguments, cwd=tmp_path, env={**environment, **variables})
        path = folder / "trace.json"
        trace = json.loads(path.read_text()) if path.exists() else {}
        assert not trace or json.loads(json.dumps(TRACE(trace))) == trace  # the output contract
        status = done.returncode if done.returncode >= 0 else 128 - done.returncode  # as in a shell
        return Traced(status, done.stdout, done.stderr, trace, folder)

    return run


@pytest.fixture
def trace(run_trace, program):
    """Traces a program given as text: ``trace(source, *options, **variables)``."""

    def run(source: str, *options: str, **variables: str) -> Traced:
        return run_trace([sys.executable, program(source)], options, **variables)

    return run


@dataclass
class Observed:
    """A finished ``syncscan facts record``: its status, its output, and the facts it kept."""

    status: int
    stdout: str
    stderr: str
    file: Path

    @property
    def functions(self) -> dict[str, dict[str, Any]]:
        """What was seen of each function, by its name, where it was seen in one version."""
        functions = json.loads(self.file.read_text())["functions"]
        return {name: value for name, versions in functions.items() for value in versions.values()}

    def words(self, name: str) -> dict[str, dict[str, int]]:
        """What was seen of one function."""
        return self.functions[name]["words"]


@pytest.fixture
def run_syncscan(tmp_path, warm):
    """Runs ``syncscan``: ``run_syncscan(*arguments, **variables)``."""

    def run(*arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("SYNCSCAN", "PYTHON"))
        }
        return warm.run(*arguments, cwd=tmp_path, env={**kept, "PYTHONPATH": str(ROOT), **variables})

    return run


@pytest.fixture
def observe(run_syncscan, program, tmp_path):
    """Observes a program given as text: ``observe(source, *options, python=..., **variables)``."""

    def observe_program(
        source: str, *options: object, python: str = sys.executable, **variables: str
    ) -> Observed:
        done = run_syncscan(
            "facts", "record", "-o", "facts.json", *options, "--", python, program(source), **variables
        )
        return Observed(done.returncode, done.stdout, done.stderr, tmp_path / "facts.json")

    return observe_program
