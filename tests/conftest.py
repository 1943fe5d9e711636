"""What all tests share: syncscan as a command."""

from __future__ import annotations

import gc
import io
import os
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from syncscan.cli import main
from tests.warm import Warm

# A machine that is slow just now is no failure.
settings.register_profile(
    "patient", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("patient")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Take torch and all tests out of the walks of the garbage collector: half of the time of some tests was such walks.

    While tests are collected, the collector would find nothing.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@dataclass(frozen=True)
class Run:
    """What a command printed, and its exit status."""

    stdout: str
    stderr: str
    status: int


Command = Callable[..., Run]


@pytest.fixture(autouse=True)
def _no_results_kept(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Give each test a cache of its own, for some change the program while it runs."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache" / uuid.uuid4().hex))


@pytest.fixture
def syncscan(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    """Run syncscan in a scratch folder, as the command line would, without the cost of a new process."""

    def run(*arguments: object, stdin: bytes = b"", encoding: str = "utf-8") -> Run:
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding=encoding, write_through=True) for _ in range(2))
        with monkeypatch.context() as patch:
            patch.chdir(tmp_path)
            patch.setattr(sys, "argv", ["syncscan", *map(str, arguments)])
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            try:
                main()
            except SystemExit as stop:
                status = stop.code
        assert isinstance(status, int)
        return Run(*(stream.buffer.getvalue().decode(encoding) for stream in (out, err)), status)

    return run


@pytest.fixture(scope="session")
def warm() -> Iterator[Warm]:
    """A process that has imported syncscan, for runs that must be processes: ``warm.run(*arguments, cwd=..., env=...)``."""
    process = Warm()
    yield process
    process.close()


@pytest.fixture
def project(tmp_path: Path) -> Callable[[dict[str, str | bytes]], Path]:
    """Write files into the scratch folder."""

    def write(files: dict[str, str | bytes]) -> Path:
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return tmp_path

    return write


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own that holds 16 KiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a disk")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)
