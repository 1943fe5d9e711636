"""Replacing attributes of torch, and putting back exactly what was there."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

_MISSING = object()


class Patches:
    """Attributes and settings replaced while a simulation runs."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []

    def replace(self, owner: Any, name: str, value: Any) -> None:
        """Set ``owner.name``, and remember what its own namespace held."""
        before = vars(owner).get(name, _MISSING)

        def undo() -> None:
            if before is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, before)

        self._undo.append(undo)
        setattr(owner, name, value)

    def replace_everywhere(self, module: Any, name: str, value: Any) -> None:
        """Replace an attribute of a module, and the same object where its submodules hold it under that name."""
        if not hasattr(module, name):
            return
        before = getattr(module, name)
        prefix = f"{module.__name__}."
        owners = [module, *(found for key, found in list(sys.modules.items()) if key.startswith(prefix))]
        for owner in owners:
            if vars(owner).get(name) is before:
                self.replace(owner, name, value)

    def switch(self, get: Callable[[], Any], switch: Callable[[Any], None], value: Any) -> None:
        """Change a setting that torch keeps outside of Python."""
        before = get()
        self._undo.append(lambda: switch(before))
        switch(value)

    def restore(self) -> None:
        """Put everything back, the last replaced first."""
        while self._undo:
            self._undo.pop()()
