"""Runs one program alone and in other ways, and compares all that can be seen of it from outside."""

from __future__ import annotations

import difflib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from benchmarks.transparent.programs import STATE, Program

ROOT = Path(__file__).parents[2]
SECONDS = 120.0


@dataclass(frozen=True)
class Outcome:
    """What a run leaves: ``status`` is negative for a signal; ``state`` is what the program says of itself at its end."""

    status: int
    stdout: str
    stderr: str
    files: dict[str, str]
    state: str


class NoPythonError(Exception):
    """There is no Python of a version here."""


def python_of(version: str) -> str:
    """Return the interpreter of a version, of the system or of pyenv; NoPythonError where there is none."""
    if not version:
        return sys.executable
    installed = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    found = str(installed[-1]) if installed else shutil.which(f"python{version}")
    if found is None:
        raise NoPythonError(version)
    return found


def run(
    program: Program, folder: Path, environment: dict[str, str], options: Sequence[str] | None
) -> Outcome:
    """Run a program in a folder of its own; with ``options``, under ``syncscan trace`` with these."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    script = folder / "program.py"
    script.write_text(
        (STATE if program.state else "import os, sys, atexit\nDEVICE = 'cuda'\n") + program.source
    )
    for name, text in program.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    names = {"{python}": python_of(program.version), "{script}": script.name}
    command = [_filled(word, names) for word in program.command]
    if options is not None:
        command = [sys.executable, "-m", "syncscan", "trace", *options, "--", *command]
    done = subprocess.run(
        command, cwd=folder, env={**environment, **program.variables}, input=program.stdin.encode(),
        capture_output=True, timeout=SECONDS, check=False, start_new_session=True,
        preexec_fn=_as_in_a_shell,
    )  # fmt: skip
    stderr = done.stderr.decode(errors="replace")
    if options is not None:
        stderr = re.split(
            "^syncscan: |(?<=\n)syncscan: |syncscan: (?=the CPU|nothing was|no )", stderr, maxsplit=1
        )[0]
    state = folder / "state"
    told = plain(state.read_text()) if state.exists() else ""
    files = {
        path.relative_to(folder).as_posix(): _content(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path not in (state, script) and path.suffix not in (".pyc", ".db")
    }
    return Outcome(done.returncode, plain(done.stdout.decode(errors="replace")), plain(stderr), files, told)


def differences(alone: Outcome, other: Outcome) -> dict[str, tuple[object, object]]:
    """Return by its name each aspect in which a run differs from the run alone, with what it was in both."""
    pairs = {f.name: (getattr(alone, f.name), getattr(other, f.name)) for f in fields(Outcome)}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def diff(alone: object, other: object, way: str) -> list[str]:
    """Return the lines in which one aspect differs."""
    before, after = str(alone).splitlines(), str(other).splitlines()
    return list(difflib.unified_diff(before, after, "alone", way, "", "", 0, ""))


def environment_with_fake_cuda(library: Path) -> dict[str, str]:
    """Return the environment in which ``import torch`` gives the stand-in of the tests, which makes CUDA's calls."""
    kept = {name: os.environ[name] for name in ("HOME", "LANG", "PATH", "TMPDIR") if name in os.environ}
    path = os.pathsep.join([str(ROOT / "tests/trace/fake_cuda"), str(ROOT)])
    fake = {"FAKE_CUDA_LIBRARY": str(library), "LD_LIBRARY_PATH": str(library.parent), "PYTHONPATH": path}
    return {**kept, **fake, "TERM": "dumb", "COLUMNS": "120"}


def build_fake_cuda(folder: Path) -> Path:
    """Compile the stand-in for libcupti and libcuda."""
    library = folder / "libcupti.so"
    source = ROOT / "tests/trace/fake_cuda/fake_cuda.c"
    compiler = shutil.which("cc") or "gcc"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source, "-ldl", "-lpthread"], check=True)
    library.with_name("libcuda.so.1").symlink_to(library)
    return library


def plain(text: str) -> str:
    """Return a text without what differs between two runs of one program: addresses and the numbers of processes."""
    text = re.sub(r"0x[0-9a-f]+", "0x", text)
    text = re.sub(r"(?<=started )[0-9]+|(?<=Ran 1 test in )[0-9.]+", "N", text)
    return re.sub(r"(?<=pid=)[0-9]+|(?<=line 1: ) *[0-9]+|(?<=: line )[0-9]+: +[0-9]+", "N", text)


def _filled(word: str, names: dict[str, str]) -> str:
    for name, value in names.items():
        word = word.replace(name, value)
    return word


def _content(path: Path) -> str:
    return path.read_text(errors="replace")[:100_000]


def _as_in_a_shell() -> None:
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
