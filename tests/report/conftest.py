"""Traces as `syncscan trace -o DIR` keeps them, made up of what a test is about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from syncscan.trace.contract import TRACE

STEADY = 100


def make_site(line: int = 10, **fields: Any) -> dict[str, Any]:
    """A site that waits once in each steady step for 20 us, but for what is given."""
    count = fields.get("count", STEADY)
    total = fields.pop("total", count * 20_000)
    rank = fields.pop("rank", "0")
    path = fields.get("path", "/code/engine.py")
    site = {
        "path": path, "line": line, "column": 9, "end_line": line, "end_column": 24, "function": "Engine.step",
        "expression": f"self.t{line}.item()", "code": "SYN101", "name": "item-read",
        "instead": "keep the number on the GPU", "api": "cudaStreamSynchronize", "count": count,
        "blocked_ns": {"total": total, "max": 30_000, "p50": 20_000, "p99": 29_000, "histogram": {"100": count}},
        "starved_ns": None, "per_step": count / STEADY, "step_spread": {"syncs": 0.0, "blocked_ns": 0.0},
        "phase": "steady", "in_step": True, "allowed": None, "backward_of": None, "breaks_graph": False, "uncomputed": False, "detectors": ["cupti"],
        "missed_by": [], "threads": {"MainThread": count}, "ranks": {rank: count}, "rank_ns": {rank: total},
        "stacks": [{"count": count, "frames": [f"{path}:{line}:Engine.step", "/code/serve.py:5:<module>"]}],
    }  # fmt: skip
    return site | fields


def outside(line: int = 90, **fields: Any) -> dict[str, Any]:
    """A site that waits once, outside of steps."""
    return make_site(line, **{"count": 1, "per_step": None, "step_spread": None, "in_step": False} | fields)


def make_process(**fields: Any) -> dict[str, Any]:
    """A process that used a GPU for a second."""
    return {
        "pid": 100, "ppid": 1, "rank": 0, "hooked": True, "argv": ["python", "serve.py"], "torch": "2.11.0",
        "cuda": "13.0", "detectors": ["cupti"], "notes": [], "steps": STEADY, "wall_ns": 10**9,
    } | fields  # fmt: skip


def make_trace(*sites: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A trace of 100 steady steps of 8 ms with these sites."""
    steps = {
        "target": "engine:Engine.step",
        "warmup": 2,
        "started": 102,
        "steady": STEADY,
        "wall_ns": 800_000_000,
    }
    return {
        "version": 1, "tool": {"name": "syncscan", "version": "0.1.0"}, "command": ["python", "serve.py"],
        "exit_status": 0, "wall_ns": 10**9, "steps": steps, "starved_check": None, "proposed_step": None, "worst_step": {},
        "processes": [make_process()], "sites": list(sites), "timeline": [], "uncomputed": {}, "decided": {},
        "lines": None, "callees": {}, "callers": {},
    } | fields  # fmt: skip


@pytest.fixture
def keep(tmp_path):
    """Writes a trace into a folder: ``keep(name, trace)`` gives its path."""

    def write(name: str, trace: dict[str, Any]) -> Path:
        assert json.loads(json.dumps(TRACE(trace))) == trace  # the output contract
        folder = tmp_path / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "trace.json").write_text(json.dumps(trace))
        return folder

    return write
