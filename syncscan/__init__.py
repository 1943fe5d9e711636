"""Finds the lines of PyTorch programs that block the CPU until the GPU has finished."""

# Only what Python has loaded by now, so that no file of the working folder stands in for it: see `__main__`.
import os.path
import sys

TYPE_CHECKING = False  # as in the module typing
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from typing import Any

    from syncscan.guard import SyncError, allow_sync, count_syncs, forbid_sync
    from syncscan.simulate.context import simulated_cuda

__all__ = ["SyncError", "allow_sync", "count_syncs", "forbid_sync", "simulated_cuda"]

__version__ = "1.0.0"

_RULES = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "rules")  # noqa: PTH118, PTH120


class _RuleBookOfTheSourceTree:
    """A finder of ``syncscan.rules`` in the folder beside this package, where the build has not mapped it."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> "ModuleSpec | None":  # noqa: ARG004
        """Return the spec of ``syncscan.rules``, with the import system's names for the arguments."""
        if name != "syncscan.rules":
            return None
        import importlib.util  # noqa: PLC0415 (only where rules are wanted)

        file = os.path.join(_RULES, "__init__.py")  # noqa: PTH118
        return importlib.util.spec_from_file_location(name, file, submodule_search_locations=[_RULES])


if os.path.isfile(os.path.join(_RULES, "ops.toml")):  # noqa: PTH113, PTH118
    sys.meta_path.insert(
        0, _RuleBookOfTheSourceTree
    )  # before the finder of another checkout that is installed


def __getattr__(name: str) -> "Any":
    """Import names on their first use, so that ``import syncscan`` stays light."""
    if name == "simulated_cuda":
        from syncscan.simulate.context import simulated_cuda  # noqa: PLC0415 (without it, no torch)

        return simulated_cuda
    if name in __all__:
        from syncscan import guard  # noqa: PLC0415 (without it, no torch)

        return getattr(guard, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
