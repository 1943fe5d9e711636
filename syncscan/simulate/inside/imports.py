"""Import hooks: call a function after the program imports a module, without importing that module."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any


class PatchFinder:
    """A meta path finder that finds nothing itself, and wraps the ``exec_module`` of other loaders in a callback."""

    def __init__(self) -> None:
        self._waiting: dict[str, Callable[[Any], None]] = {}

    def when_imported(self, name: str, callback: Callable[[Any], None]) -> None:
        """Call ``callback(module)`` after a module has run, or at once if the module is imported already."""
        if name in sys.modules:
            callback(sys.modules[name])
            return
        self._waiting[name] = callback
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def end(self) -> None:
        """Remove the hook and its callbacks."""
        self._waiting.clear()
        if self in (sys.meta_path or ()):  # None at process exit
            sys.meta_path.remove(self)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return the spec of another finder with a loader that calls back; None for modules without a callback."""
        callback = self._waiting.pop(name, None)
        spec = find_spec(name) if callback is not None else None
        if spec is None or callback is None or not hasattr(spec.loader, "exec_module"):
            return None
        run: Any = spec.loader.exec_module  # type: ignore[union-attr]  # checked above

        def exec_module(module: Any) -> None:
            run(module)
            callback(module)

        spec.loader.exec_module = exec_module  # type: ignore[union-attr,method-assign]  # checked above
        return spec
