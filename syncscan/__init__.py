"""Finds where PyTorch programs make the CPU wait for the GPU."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from syncscan.guard import SyncError, allow_sync, count_syncs, forbid_sync
    from syncscan.simulate.context import simulated_cuda

__all__ = ["SyncError", "allow_sync", "count_syncs", "forbid_sync", "simulated_cuda"]

__version__ = "0.1.0"

# In a source tree the rule book lies beside this package; the build maps it to syncscan.rules.
_source_tree = Path(__file__).resolve().parent.parent
if (_source_tree / "rules" / "ops.toml").is_file() and (_source_tree / "pyproject.toml").is_file():
    __path__.append(str(_source_tree))


def __getattr__(name: str) -> Any:
    """Import what is used when it is used, so that ``import syncscan`` stays light."""
    if name == "simulated_cuda":
        from syncscan.simulate.context import simulated_cuda  # noqa: PLC0415 (without it, no torch)

        return simulated_cuda
    if name in __all__:
        from syncscan import guard  # noqa: PLC0415 (without it, no torch)

        return getattr(guard, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
