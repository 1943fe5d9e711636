"""Runs one program alone and in other ways, and compares all that can be seen of it from outside."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.transparent.programs import STATE, Program

ROOT = Path(__file__).parents[2]
SECONDS = 120.0
NAMED = "DEVICE = os.environ.get('DEVICE', 'cuda')\n"
TEST = "import runpy\n\n\ndef test_program():\n    runpy.run_path('program.py', run_name='__main__')\n"
NO_PLUGIN = ("-p", "no:syncscan.pytest_plugin")
UNSEEN = ("-p", "no:cacheprovider")


@dataclass(frozen=True)
class Outcome:
    """What a run leaves: ``status`` is negative for a signal; ``state`` is what the program says of itself at its end."""

    status: int
    stdout: str
    stderr: str
    files: dict[str, str]
    state: str


@dataclass(frozen=True)
class Way:
    """A way to run a program, other than alone."""

    name: str
    options: tuple[str, ...] = ()  # of ``syncscan trace``
    pytest: tuple[str, ...] | None = None  # its options, where the program runs as a test
    device_alone: str = "cuda"

    def takes(self, program: Program) -> bool:
        """Return whether a program can be run in this way."""
        if self.pytest is not None and program.command != Program("").command:
            return False
        return not (program.computes if self.device_alone == "cuda" else program.version)


WAYS = {
    "trace": Way("trace"),
    "simulate": Way("trace --simulate", ("--simulate",), device_alone="cpu"),
    "pytest": Way("pytest --syncscan=simulate", pytest=("--syncscan=simulate",), device_alone="cpu"),
}


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
    program: Program, folder: Path, environment: dict[str, str], way: Way, *, alone: bool = False
) -> Outcome:
    """Run a program in a folder of its own, in one way or alone."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    script = folder / "program.py"
    has_state = program.state and way.pytest is None
    script.write_text((STATE if has_state else "import os, sys, atexit\n" + NAMED) + program.source)
    for name, text in program.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    names = {"{python}": python_of(program.version), "{script}": script.name}
    command = [_filled(word, names) for word in program.command]
    if way.pytest is not None:
        (folder / "test_program.py").write_text(TEST)
        chosen = NO_PLUGIN if alone else way.pytest
        command = [sys.executable, "-m", "pytest", "-q", "-s", "--tb=short", *UNSEEN, *chosen]
    elif not alone:
        command = [sys.executable, "-m", "syncscan", "trace", *way.options, "--", *command]
    environment = {**environment, "DEVICE": way.device_alone if alone else "cuda"}
    done = subprocess.run(
        command, cwd=folder, env={**environment, **program.variables}, input=program.stdin.encode(),
        capture_output=True, timeout=SECONDS, check=False, start_new_session=True,
        preexec_fn=_as_in_a_shell,
    )  # fmt: skip
    stderr = done.stderr.decode(errors="replace")
    if not alone:
        stderr = re.split(
            "^syncscan: |(?<=\n)syncscan: |syncscan: (?=the CPU|nothing was|no )", stderr, maxsplit=1
        )[0]
    state = folder / "state"
    told = plain(state.read_text()) if state.exists() else ""
    files = {
        path.relative_to(folder).as_posix(): _content(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path not in (state, script) and path.suffix not in (".pyc", ".pyo", ".db")
    }
    stdout = plain(done.stdout.decode(errors="replace"))
    if way.pytest is not None:
        stdout = re.sub(
            "(?s)(?<=\n)=+ synchronizations =+\n.*?\n(?==+ |!+ |[0-9]+ (passed|failed)|no tests ran)",
            "",
            stdout,
        )
        stdout = re.sub("(?m)(?<= in )[0-9.]+s|^=+ (?=.* =+$)|(?<= )=+$", "", stdout)
    return Outcome(done.returncode, stdout, plain(stderr), files, told)


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
