"""Tells what came of every test of a suite, one JSON line each; `parity.py` gives it to the pytest that it starts.

A line is written before a test and another after it, so that a test that ends the process is known by the
first alone. A test that runs longer than its limit ends the process too.
"""

from __future__ import annotations

import contextlib
import doctest
import faulthandler
import hashlib
import json
import os
import random
import re
import sys
import time
import traceback
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

KEPT_CHARACTERS = 300  # of the message of a failure
KEPT_FRAMES = 15
_DEVICE = re.compile(r",\s*device='cuda:0'")
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what `parity.py` has to say."""
    group = parser.getgroup("parity")
    group.addoption(
        "--parity-results", metavar="FILE", help="append the results here; tests in it are left out"
    )
    group.addoption(
        "--parity-share", type=int, default=1, metavar="N", help="run one test in N, always the same"
    )
    group.addoption("--parity-device", metavar="DEVICE", help="where tensors are made that name no device")
    group.addoption("--parity-limit", type=float, default=60, metavar="S", help="end a test after S seconds")


@pytest.hookimpl(trylast=True)  # a simulation has begun by then
def pytest_configure(config: pytest.Config) -> None:
    """Start from the same random numbers in every run."""
    if config.getoption("parity_results"):
        if config.getoption("parity_device"):
            import torch  # noqa: PLC0415 (not before the simulation)

            torch.set_default_device(config.getoption("parity_device"))
            _print_no_device()
        seed()
        config.pluginmanager.register(_Recorder(config), "parity-recorder")


def _print_no_device() -> None:
    """Let examples of a documentation show the tensors of a GPU as those of the host."""
    check = doctest.OutputChecker.check_output

    def without_device(self: doctest.OutputChecker, want: str, got: str, optionflags: int) -> bool:
        return check(self, want, _DEVICE.sub("", got), optionflags)

    doctest.OutputChecker.check_output = without_device  # type: ignore[method-assign]


def seed() -> None:
    """Seed every generator that a test may draw from."""
    random.seed(0)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(0)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(0)


def is_in_share(name: str, share: int) -> bool:
    """Whether a test is in the sample of one in ``share``: by its name alone, with its twin for the other device."""
    name = name.replace("cuda", "cpu")
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % share == 0


class _Recorder:
    """Chooses the tests and writes what came of them."""

    def __init__(self, config: pytest.Config) -> None:
        self.path = Path(config.getoption("parity_results"))
        self.share: int = config.getoption("parity_share")
        self.limit: float = config.getoption("parity_limit")
        self.log, self.terminal = os.dup(1), os.dup(2)  # pytest takes the originals while a test runs
        self.names: dict[str, str] = {}
        self.result: dict[str, Any] = {}
        self.done = 0

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Keep the sample, without what an earlier process did."""
        done = {json.loads(line)["test"] for line in self.path.read_text().splitlines()}
        seen: Counter[str] = Counter()
        kept: list[pytest.Item] = []
        left: list[pytest.Item] = []
        for item in items:
            name = _ADDRESS.sub("0x", item.nodeid)
            seen[name] += 1
            name = name if seen[name] == 1 else f"{name} #{seen[name]}"
            self.names[item.nodeid] = name
            (kept if is_in_share(name, self.share) and name not in done else left).append(item)
        self.done, self.total = len(done), len(done) + len(kept)
        items[:] = kept
        config.hook.pytest_deselected(items=left)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Write a line before a test and one after it."""
        name = self.names[item.nodeid]
        self._write({"test": name})
        self.result = {"test": name, "outcome": "passed", "gpu": False}
        began, before = time.perf_counter(), Counter(_uncomputed())
        faulthandler.dump_traceback_later(self.limit, exit=True, file=self.log)
        try:
            return (yield)
        finally:
            faulthandler.cancel_dump_traceback_later()
            if lost := Counter(_uncomputed()) - before:
                self.result["uncomputed"] = sorted(lost)
            self._write({**self.result, "seconds": round(time.perf_counter() - began, 2)})
            self.done += 1
            os.write(self.terminal, f"\r    {self.done} of {self.total} ".encode())

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        """The same random numbers for a test, whatever ran before it."""
        seed()
        simulation = _simulation()
        if simulation is not None:
            simulation.when_used[:] = [lambda: self.result.update(gpu=True)]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
        """Note the worst that a part of a test came to."""
        report = yield
        if report.failed:
            self.result.update(outcome="failed", **_reason(call, report))
        elif report.skipped and self.result["outcome"] == "passed":
            self.result["outcome"] = "xfailed" if hasattr(report, "wasxfail") else "skipped"
        return report

    def _write(self, line: dict[str, Any]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def _simulation() -> Any:
    return getattr(sys.modules.get("syncscan.simulate.inside.simulation"), "current", None)


def _uncomputed() -> dict[str, int]:
    """How often which kernel was not computed so far."""
    simulation = _simulation()
    return {} if simulation is None else simulation.uncomputed.counts


def _reason(call: pytest.CallInfo[None], report: pytest.TestReport) -> dict[str, Any]:
    """Why a test failed: what is not simulated, or else the error, in a line, and the frames that led there."""
    if call.excinfo is None:
        return {"error": "", "message": report.longreprtext[:KEPT_CHARACTERS], "frames": []}
    error = call.excinfo.value
    if isinstance(error, doctest.UnexpectedException):
        error = error.exc_info[1]
    shown = next((found for found in _chain(error) if type(found).__name__ == "SimulationError"), error)
    text = ""
    with contextlib.suppress(Exception):
        text = str(shown)
    frames = traceback.extract_tb(shown.__traceback__)[-KEPT_FRAMES:]
    return {
        "error": type(shown).__name__,
        "message": " ".join(text.split())[:KEPT_CHARACTERS],
        "frames": [f"{frame.filename}:{frame.lineno} {frame.name}: {frame.line}" for frame in frames],
    }


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
