"""Calls a function once a module has been imported, without importing it."""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

    Callback = Callable[[Any], None]

# Frames of this file name are the import system's: it takes them out of tracebacks, and `warnings` skips them.
_IMPORT_SYSTEM = "<frozen importlib._bootstrap_external>"


class ImportWatch:
    """A finder that finds nothing itself: it lends the others' loaders an ``exec_module`` that calls back."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[Callback]] = {}

    def when_imported(self, name: str, callback: "Callback") -> None:
        """Call ``callback(module)`` after module ``name`` ran, or now if it did already."""
        if name in sys.modules:
            callback(sys.modules[name])
            return
        self._waiting.setdefault(name, []).append(callback)
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def find_spec(
        self, name: str, path: "Sequence[str] | None" = None, target: "ModuleType | None" = None
    ) -> "ModuleSpec | None":
        """Let the other finders find ``name``, and watch the loader that they give."""
        if name not in self._waiting:
            return None
        spec = self._find_elsewhere(name, path, target)
        if spec is None or not hasattr(spec.loader, "exec_module"):
            return None
        self._watch(spec.loader, name)
        return spec

    def _find_elsewhere(
        self, name: str, path: "Sequence[str] | None", target: "ModuleType | None"
    ) -> "ModuleSpec | None":
        for finder in sys.meta_path:
            find_spec = getattr(finder, "find_spec", None)
            if find_spec is None or finder is self:
                continue
            spec: ModuleSpec | None = find_spec(name, path, target)
            if spec is not None:
                return spec
        return None

    def _watch(self, loader: "Any", name: str) -> None:
        """Call back when the loader has run the module: many a program asks for a spec and does not import."""
        original = loader.exec_module

        def exec_module(module: "ModuleType") -> None:
            original(module)
            if module.__name__ == name:
                loader.__dict__.pop("exec_module", None)
                self._call_back(name, module)

        exec_module.__code__ = exec_module.__code__.replace(co_filename=_IMPORT_SYSTEM)
        try:
            loader.exec_module = exec_module
        except AttributeError:  # a built-in loader; none of the watched modules has such a loader
            return

    def _call_back(self, name: str, module: "ModuleType") -> None:
        callbacks = self._waiting.pop(name, ())
        if not self._waiting and self in sys.meta_path:
            sys.meta_path.remove(self)
        for callback in callbacks:
            callback(module)
