"""Which tests run which lines, in their own process or in one that they start.

coverage.py records the lines; this is the pytest plugin that tells it which test runs. It names a process that
a test starts by the variable PYTEST_CURRENT_TEST, which such a process inherits.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import coverage
import pytest

_PHASE = re.compile(r" \((setup|call|teardown)\)$")  # which PYTEST_CURRENT_TEST names too


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Let what coverage.py records belong to this test."""
    measured = coverage.Coverage.current()
    assert measured is not None
    measured.switch_context(item.nodeid)
    try:
        return (yield)
    finally:
        measured.switch_context("")


class TestsOfLines:
    """The tests of a checkout by the lines that they run."""

    def __init__(self, checkout: Path, tests: list[str], folder: Path, jobs: int) -> None:
        """Run the tests once; ``folder`` takes what is recorded.

        ``failed`` are the tests that fail, recorded as they are; ``skipped`` says how many were for what reason.
        """
        (folder / "coveragerc").write_text(
            "[run]\n"
            f"source_dirs =\n    {checkout / 'syncscan'}\n    {checkout / 'rules'}\n"
            f"data_file = {folder / 'lines'}\n"
            "parallel = true\n"
            "disable_warnings = no-data-collected, module-not-measured\n"
            "context = ${PYTEST_CURRENT_TEST-}\n",
            encoding="utf-8",
        )
        environment = {**os.environ, "COVERAGE_PROCESS_START": str(folder / "coveragerc")}
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-m",
            "long or not long",
            "-p",
            f"benchmarks.{Path(__file__).stem}",
        ]
        command.append(f"--junit-xml={folder / 'tests.xml'}")
        subprocess.run([*command, "-n", str(jobs), *tests], cwd=checkout, env=environment, check=False)
        failed = checkout / ".pytest_cache" / "v" / "cache" / "lastfailed"
        self.failed = sorted(json.loads(failed.read_text(encoding="utf-8"))) if failed.exists() else []
        skips = ET.parse(folder / "tests.xml").iter("skipped")  # noqa: S314 (pytest has just written it)
        self.skipped = Counter(skip.get("message", "") for skip in skips)
        measured = coverage.Coverage(str(folder / "lines"), config_file=False)
        measured.combine([str(folder)])
        self._data = measured.get_data()

    def of(self, path: Path, first: int, last: int) -> set[str]:
        """The tests that run any of the lines; with an empty name among them if an import does."""
        by_line = self._data.contexts_by_lineno(str(path))
        contexts = {context for line in range(first, last + 1) for context in by_line.get(line, ())}
        return {_PHASE.sub("", context) for context in contexts}
