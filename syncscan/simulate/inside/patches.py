"""Replacement of torch attributes, with exact restoration."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import module_from_spec
from types import ModuleType
from typing import Any

import torch

from .imports import PatchFinder
from .tracebacks import without_our_frames

_MISSING = object()


class Patches:
    """The attributes and settings that are replaced while a simulation runs."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []
        self._imports = PatchFinder()
        self._owners: dict[str, list[Any]] = {}  # a module and its submodules, by its name

    def replace(self, owner: Any, name: str, value: Any) -> None:
        """Set ``owner.name``, and save the entry in the owner's own namespace.

        The errors of a function show no frame of the simulation, and those of invalid arguments are torch's own.
        """
        self._set(owner, name, without_our_frames(value, getattr(owner, name, None)))

    def _set(self, owner: Any, name: str, value: Any) -> None:
        before = vars(owner).get(name, _MISSING)

        def undo() -> None:
            if before is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, before)

        self._undo.append(undo)
        setattr(owner, name, value)

    def replace_everywhere(self, module: Any, name: str, value: Any) -> None:
        """Replace an attribute of a module, and each reference to the same object under this name in its submodules."""
        if not hasattr(module, name):
            return
        before = getattr(module, name)
        value = without_our_frames(value, before)
        for owner in self._with_submodules(module):
            if vars(owner).get(name) is before:
                self._set(owner, name, value)

    def _with_submodules(self, module: Any) -> list[Any]:
        """Return a module and its imported submodules; cached, because the search is slow."""
        base = module.__name__
        if base not in self._owners:
            prefix = f"{base}."
            submodules = (found for key, found in list(sys.modules.items()) if key.startswith(prefix))
            self._owners[base] = [module, *submodules]
        return self._owners[base]

    def switch(self, get: Callable[[], Any], switch: Callable[[Any], None], value: Any) -> None:
        """Change a setting that torch keeps outside Python."""
        before = get()
        self._undo.append(lambda: switch(before))
        switch(value)

    def when_imported(self, module: str, replace: Callable[[Any], None]) -> None:
        """Call ``replace(module)`` for a module outside torch, now or as soon as the program imports it."""
        self._imports.when_imported(module, replace)

    def restore(self) -> None:
        """Restore everything, last replaced first."""
        self._imports.end()
        while self._undo:
            self._undo.pop()()
        self._owners.clear()


def run_again(module: ModuleType, classes: dict[str, Any]) -> ModuleType:
    """Return a copy of a Python module of torch that runs on replacements for these names of ``torch._C``.

    So torch's own classes, signatures and messages stand on the simulation. The module itself is unchanged.
    """
    spec: Any = module.__spec__
    copy = module_from_spec(spec)
    with replacing() as patches:
        for name, value in classes.items():
            patches.replace(torch._C, name, value)
        spec.loader.exec_module(copy)
    return copy


@contextmanager
def replacing() -> Iterator[Patches]:
    """Yield `Patches` that are restored at the end of the block."""
    patches = Patches()
    try:
        yield patches
    finally:
        patches.restore()
