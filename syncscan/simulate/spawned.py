"""Processes that `multiprocessing` spawns during a block of `simulated_cuda`: each is simulated from its start to its end."""

from __future__ import annotations

import multiprocessing.spawn
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from syncscan.simulate.inside.patches import Patches

# The new process unpickles this first. Its path is set a moment later, and is needed now.
_BEGIN = "import sys; sys.path[:] = path; from syncscan.simulate.context import begin; begin(*asked)"


class _Beginning:
    """Begins a simulation in the process that unpickles it."""

    def __init__(self, path: list[str], asked: tuple[Any, ...]) -> None:
        self._names = {"path": path, "asked": asked}

    def __reduce__(self) -> tuple[Callable[..., None], tuple[Any, ...]]:
        return exec, (_BEGIN, self._names)


def cover_spawned(asked: tuple[Any, ...], patches: Patches) -> None:
    """Let spawned processes begin a simulation with these arguments of `syncscan.simulate.context.begin`."""
    prepare: Any = multiprocessing.spawn.get_preparation_data

    def prepared(name: str) -> dict[str, Any]:
        data = prepare(name)
        return {**data, "simulation": _Beginning(data["sys_path"], asked)}

    patches.replace(multiprocessing.spawn, "get_preparation_data", prepared)
