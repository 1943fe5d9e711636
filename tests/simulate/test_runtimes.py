"""The command by which the benchmarks trace a runtime."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.runtimes import trace_of


def test_a_program_is_traced_and_its_trace_kept(tmp_path: Path) -> None:
    trace = trace_of((sys.executable, "-c", "print(1)"), ("--simulate", "--lines"), tmp_path / "kept")
    assert trace["command"] == [sys.executable, "-c", "print(1)"]
    assert (tmp_path / "kept" / "trace.json").is_file()
