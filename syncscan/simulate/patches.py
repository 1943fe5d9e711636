"""Replacing attributes of torch, and putting back exactly what was there."""

from __future__ import annotations

from typing import Any

_MISSING = object()


class Patches:
    """Attributes replaced while a simulation runs."""

    def __init__(self) -> None:
        self._replaced: list[tuple[Any, str, Any]] = []

    def replace(self, owner: Any, name: str, value: Any) -> None:
        """Set ``owner.name``, and remember what its own namespace held."""
        self._replaced.append((owner, name, vars(owner).get(name, _MISSING)))
        setattr(owner, name, value)

    def restore(self) -> None:
        """Put everything back, the last replaced first."""
        while self._replaced:
            owner, name, before = self._replaced.pop()
            if before is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, before)
